"""The pure modules of the trial browser and the reset overlay, run by Node."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.node import NODE, needs_node

SCRIPTS = Path(__file__).resolve().parents[4] / "frontend" / "static" / "js"
SCENE = """
import { %(names)s } from "%(module)s";
// A rig of stripes and noise-free blobs, an object as a bright square at (x, y).
const rig = () => Float32Array.from({ length: SIZE * SIZE }, (_, i) => {
  const [x, y] = [i %% SIZE, Math.floor(i / SIZE)];
  return 80 + 40 * Math.sin(x / 7) + 30 * Math.cos(y / 5) + (x > 60 && y > 50 ? 50 : 0);
});
const withObject = (x0, y0, size = 12) => rig().map((value, i) => {
  const [x, y] = [i %% SIZE, Math.floor(i / SIZE)];
  return x >= x0 && x < x0 + size && y >= y0 && y < y0 + size ? 230 : value;
});
const moved = (values, dx, dy) => values.map((_, i) => {
  const inside = (value) => Math.min(SIZE - 1, Math.max(0, value));
  return values[inside(Math.floor(i / SIZE) - dy) * SIZE + inside((i %% SIZE) - dx)];
});
const brighter = (values) => values.map((value) => 1.3 * value + 20);
console.log(JSON.stringify(%(expression)s));
"""
PLAIN = 'import { %(names)s } from "%(module)s"; console.log(JSON.stringify(%(expression)s));'

pytestmark = needs_node


def run(module: str, names: str, expression: str, script: str = PLAIN) -> Any:
    """The expression's value after importing from the module."""
    url = (SCRIPTS / module).as_uri()
    text = script % {"names": names, "module": url, "expression": expression}
    done = subprocess.run(
        [NODE, "--input-type=module", "-e", text], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def scene(expression: str) -> Any:
    return run("alignment.js", "SIZE, alignment, drift, shiftWords, correlation, bestShift, grey", expression, SCENE)


def test_an_object_laid_as_before_matches_also_in_other_light():
    same, lit = scene(
        "[alignment(withObject(30, 40), withObject(30, 40), rig()),"
        " alignment(withObject(30, 40), brighter(withObject(30, 40)), rig())]"
    )
    assert same["score"] == pytest.approx(1.0) and lit["score"] > 0.99
    assert (same["dx"], same["dy"]) == (0, 0)


def test_a_misplaced_object_scores_low_and_says_where_it_lies():
    found, words = scene(
        "[alignment(withObject(30, 40), withObject(35, 37), rig())].flatMap((found) => [found, shiftWords(found)])"
    )
    assert found["score"] < 0.7 and (found["dx"], found["dy"]) == (5, -3)
    assert words == "5% too far right, 3% too far up"


def test_without_the_empty_rig_the_resting_picture_would_hide_it():
    with_rig, without = scene(
        "[alignment(withObject(30, 40), withObject(60, 20), rig()).score,"
        " alignment(withObject(30, 40), withObject(60, 20)).score]"
    )
    assert with_rig < 0.1 and without > with_rig + 0.3


def test_an_empty_belt_matches_nothing():
    assert scene("alignment(withObject(30, 40), rig(), rig()).score") == 0


def test_a_resting_rig_does_not_drift_and_a_moved_camera_does():
    rest, with_object, nudged = scene(
        "[drift(rig(), brighter(rig())), drift(rig(), withObject(30, 40)), drift(rig(), moved(rig(), 3, 0))]"
    )
    assert rest["score"] == pytest.approx(1.0) and rest["tone"] == "good" and not rest["isMoved"]
    assert not with_object["isMoved"] and with_object["score"] > 0.98
    assert nudged["isMoved"] and (nudged["dx"], nudged["dy"]) == (3, 0) and nudged["tone"] == "bad"


def test_a_picture_without_contrast_correlates_with_nothing():
    assert scene("correlation(rig().map(() => 7), rig())") == 0


def test_grey_is_the_luma_of_each_pixel():
    assert scene("Array.from(grey(Uint8Array.from([255, 255, 255, 255, 0, 255, 0, 255])))") == pytest.approx(
        [255, 149.685], abs=1e-3
    )


def test_a_series_is_resampled_linearly_and_ends_where_it_ends():
    assert run("series.js", "resample", "resample([0, 1, 2], [0, 10, 0], [-1, 0, 0.5, 1.5, 2, 3])") == [
        None, 0, 5, 5, 0, None,
    ]  # fmt: skip


def test_two_recordings_meet_at_the_event():
    offsets = run("series.js", "offsetsAt", "offsetsAt({ a_s: 1, b_s: 2.5 })")
    assert offsets == {"a": -1.5, "b": 0}
    merged = run(
        "series.js",
        "together",
        "together({times_s: [0, 2], state: [[0, 2]]}, {times_s: [0, 4], state: [[0, 4]]}, {a: -1.5, b: 0}, 9)",
    )
    assert merged["times"] == pytest.approx([0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4])
    assert merged["lines"][0] == [None, None, None, 0, 0.5, 1, 1.5, 2, None]
    assert merged["dashed"][0] == pytest.approx([0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4])


def test_the_step_that_holds_is_the_last_one_begun():
    assert run("series.js", "stepAt", "[-1, 0, 0.019, 0.02, 0.5, 9].map((t) => stepAt([0, 0.02, 0.5], t))") == [
        -1, 0, 0, 1, 2, 2,
    ]  # fmt: skip


def test_shares_lie_on_each_other_and_an_unknown_one_leaves_a_gap():
    assert run("series.js", "stacked", "stacked([[0.25, null, 0.5], [0.75, 0.5, 0.5]])") == [
        {"lower": [0, None, 0], "upper": [0.25, None, 0.5]},
        {"lower": [0.25, None, 0.5], "upper": [1, None, 1]},
    ]


def test_small_components_are_added_up_as_others():
    names, values = run(
        "series.js",
        "folded",
        "Object.values(folded(['a', 'b', 'c', 'd'], [[0.1, 0.1], [0.5, 0.4], [0.1, null], [0.3, 0.5]], 3))",
    )
    assert names == ["b", "d", "2 others"] and values[2] == [pytest.approx(0.2), None]
    assert run("series.js", "folded", "folded(['a'], [[1]]).components") == ["a"]


def test_a_stage_lasts_until_the_next_one_and_the_last_until_the_end():
    events = "[{kind: 'started', time_s: 0}, {kind: 'stage', label: 'approach', time_s: 0},"
    events += " {kind: 'stage', label: 'lift', time_s: 2}, {kind: 'stage', label: 'late', time_s: 9}]"
    assert run("series.js", "stretches", f"stretches({events}, 5)") == [
        {"label": "approach", "from": 0, "to": 2},
        {"label": "lift", "from": 2, "to": 5},
    ]


def test_a_long_recording_is_shown_a_page_at_a_time():
    pages = "[0, 19.9, 20, 44, 50, 99].map((t) => Object.values(new Stretch(0, 50, 20).at(t)))"
    assert run("series.js", "Stretch", pages) == [[0, 20], [0, 20], [20, 40], [40, 60], [40, 60], [40, 60]]
    assert (
        run("series.js", "Stretch", "[0, 60].map((s) => Object.values(new Stretch(1, 50, s).at(30)))") == [[1, 50]] * 2
    )


def test_a_remark_that_is_being_edited_stays_when_others_come():
    made = "const remark = (id, isOpen, text) => ({ id, text, querySelector: () => (isOpen ? {} : null) });"
    script = made + PLAIN.replace("%(expression)s", "%(expression)s.map(({ text }) => text)")
    merged = "merged([remark('1', true, 'mine'), remark('2', false, 'old')],"
    merged += " [remark('1', false, 'theirs'), remark('2', false, 'new'), remark('3', false, 'more')])"
    assert run("trial_live.js", "merged", merged, script) == ["mine", "new", "more"]


def test_without_an_event_both_begin_together():
    assert run("series.js", "offsetsAt", "offsetsAt(undefined)") == {"a": 0, "b": 0}
