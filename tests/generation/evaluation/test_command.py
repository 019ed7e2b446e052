"""`python -m generation evaluate` over a policy server: rows, resumption after a stop and a kill, bad input."""

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from generation.evaluation import EvaluateConfig
from generation.evaluation.command import evaluate
from generation.evaluation.config import ConditionConfig
from generation.evaluation.starts import rollout_orders
from robots.cell.bench import BENCH_CELL
from robots.config import load_config
from robots.episodes import EpisodesReader
from robots.errors import ConfigError, DataError
from robots.progress import Progress
from tests.waiting import wait_until

SERVER = Path(__file__).with_name("fake_server.py")
ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def _server_finds_the_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    return folder


@pytest.fixture
def values(world_file: Path, checkpoint: Path) -> dict[str, Any]:
    return {
        "world": str(world_file),
        "policies": [{"name": "A", "checkpoint": str(checkpoint)}],
        "conditions": [{"name": "nominal", "rollouts": 2}, {"name": "red-light", "rollouts": 1, "light": "red"}],
        "time_limit_s": 0.4,
        "image_size": 32,
        "block": 2,
        "serve": [sys.executable, str(SERVER), "{checkpoint}", "{socket}"],
    }


def run(values: dict[str, Any], out: Path) -> dict[str, Any]:
    return evaluate(load_config(EvaluateConfig, values), out, Progress(events=True))


def rows(out: Path) -> list[dict[str, Any]]:
    return json.loads((out / "result.json").read_text())["rollouts"]


def test_every_rollout_is_a_row_with_its_condition_start_and_outcome(values, tmp_path) -> None:
    values["policies"].append({"name": "B", "checkpoint": values["policies"][0]["checkpoint"]})
    result = run(values, tmp_path / "out")
    found = rows(tmp_path / "out")
    assert (result["rollouts"], result["successes"], result["policies"]["B"]["rollouts"]) == (6, 0, 3)
    assert [(r["policy"], r["condition"]) for r in found[:3]] == [
        ("A", "nominal"),
        ("A", "nominal"),
        ("A", "red-light"),
    ]
    assert {r["failure_mode"] for r in found} == {"missed_pick"}
    starts = [
        [{k: r[k] for k in ("object", "bin", "belt_speed", "seed")} for r in found if r["policy"] == p] for p in "AB"
    ]
    assert starts[0] == starts[1], "policies are compared from the same starts"


def test_every_rollout_is_an_episode_that_a_row_points_to(values, tmp_path) -> None:
    run(values, tmp_path / "out")
    found = rows(tmp_path / "out")
    assert [(r["episodes"], r["episode"]) for r in found] == [
        ("episodes/A-0000", 0),
        ("episodes/A-0000", 1),
        ("episodes/A-0001", 0),
    ]
    for row in found:
        reader = EpisodesReader(tmp_path / "out" / row["episodes"])
        episode = reader.read(row["episode"])
        assert len(episode) == 20
        assert np.allclose(episode.columns["observation.state"][0], BENCH_CELL.home_state, atol=1e-6)
        facts = reader.row(row["episode"]).extra
        assert (facts["condition"], facts["number"], facts["outcome"]) == (
            row["condition"],
            row["number"],
            "missed_pick",
        )
        assert facts["is_simulated"]
        for view in BENCH_CELL.policy_views:
            frames = reader.video_frames(row["episode"], f"observation.images.{view}", 0, 20)
            assert frames.shape == (20, 32, 32, 3)
            held = np.abs(frames[:12].astype(int) - frames[0]).mean()
            assert held < 3, "a frame is shown until the next one is there; only its coding changes"
            assert len(np.unique(frames[0])) > 8


def test_video_can_be_left_out(values, tmp_path) -> None:
    run(values | {"video": "none"}, tmp_path / "out")
    reader = EpisodesReader(tmp_path / "out" / "episodes" / "A-0000")
    assert (len(reader.episodes), list(reader.cameras)) == (2, [])
    assert not list((tmp_path / "out").rglob("*.mp4"))


def test_given_starts_come_first_and_drawn_ones_fill_up(values) -> None:
    given = {"object": "ball", "belt_speed": 0.11, "bin": "right", "seed": 5}
    condition = load_config(ConditionConfig, {"name": "nominal", "rollouts": 9, "starts": [given]})
    orders = rollout_orders(BENCH_CELL, [condition], seed=0)
    assert (orders[0].start.object, orders[0].start.seed, orders[0].initial.bin) == ("ball", 5, "right")
    drawn = [(order.start.object, order.start.bin) for order in orders[1:]]
    assert len(set(drawn)) == 8, "objects and bins take turns"
    assert all(0.08 <= order.start.belt_speed <= 0.12 for order in orders)


def test_the_same_command_again_runs_nothing_again(values, tmp_path, checkpoint) -> None:
    run(values, tmp_path / "out")
    before = rows(tmp_path / "out")
    (checkpoint / "behavior").write_text("no start")
    run(values, tmp_path / "out")
    assert rows(tmp_path / "out") == before


@pytest.mark.parametrize(("how", "status"), [(signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)])
def test_a_stopped_or_killed_evaluation_goes_on_where_it_was(values, tmp_path, checkpoint, how, status) -> None:
    out, config = tmp_path / "out", tmp_path / "config.json"
    (checkpoint / "behavior").write_text("second block held")
    config.write_text(json.dumps(values))
    command = [sys.executable, "-m", "generation", "evaluate", str(config), str(out), "--events"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    first = out / "blocks" / "A-0000.json"
    assert wait_until(first.exists, 60)
    process.send_signal(how)
    (checkpoint / "go").touch()
    process.communicate(timeout=60)
    assert process.returncode == status
    written = first.stat().st_mtime_ns
    (checkpoint / "behavior").write_text("still")
    assert run(values, out)["rollouts"] == 3
    assert first.stat().st_mtime_ns == written
    assert sorted(path.name for path in (out / "episodes").iterdir()) == ["A-0000", "A-0001"]
    assert [len(EpisodesReader(path).episodes) for path in sorted((out / "episodes").iterdir())] == [2, 1]


def test_a_block_whose_episodes_are_missing_is_run_again(values, tmp_path) -> None:
    run(values, tmp_path / "out")
    before = rows(tmp_path / "out")
    shutil.rmtree(tmp_path / "out" / "episodes" / "A-0001")
    run(values, tmp_path / "out")
    assert rows(tmp_path / "out") == before
    assert (tmp_path / "out" / "episodes" / "A-0001").is_dir()


def test_a_folder_of_another_evaluation_is_left_alone(values, tmp_path) -> None:
    run(values, tmp_path / "out")
    with pytest.raises(ConfigError, match="choose another folder") as caught:
        run(values | {"seed": 1}, tmp_path / "out")
    assert caught.value.field == "seed"


@pytest.mark.parametrize(
    ("behavior", "error", "words"),
    [
        ("no start", DataError, "ended while it started"),
        ("crash", DataError, "stopped answering"),
        ("other robot", ConfigError, "drives toy"),
        ("strange view", ConfigError, "sonar"),
    ],
)
def test_a_server_that_fails_is_told_in_words(values, tmp_path, checkpoint, behavior, error, words) -> None:
    (checkpoint / "behavior").write_text(behavior)
    with pytest.raises(error, match=words):
        run(values, tmp_path / "out")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"policies": []}, "policies"),
        ({"policies": [{"name": "../x", "checkpoint": "/x"}]}, "policies.[0].name"),
        ({"conditions": [{"name": "n", "rollouts": 0}]}, "conditions.[0].rollouts"),
        ({"conditions": [{"name": "n", "rollouts": 1, "objects": ["piano"]}]}, "conditions.[0].objects"),
        ({"conditions": [{"name": "n", "rollouts": 1, "belt_speed": [0.1, 9.0]}]}, "conditions.[0].belt_speed"),
        ({"conditions": [{"name": "n", "rollouts": 1, "light": "green"}]}, "conditions.[0].light"),
        ({"time_limit_s": 0.0}, "time_limit_s"),
        ({"serve": ["python"]}, "serve"),
        ({"video": "3d"}, "video"),
        ({"image_size": 33}, "image_size"),
        ({"world": "/nowhere/world.json"}, "world"),
    ],
)
def test_an_impossible_field_is_named(values, tmp_path, change, field) -> None:
    with pytest.raises(ConfigError) as caught:
        run(values | change, tmp_path / "out")
    assert (caught.value.field or "").replace("[", ".[").replace("..", ".") == field


def test_a_checkpoint_that_is_not_there_is_named(values, tmp_path) -> None:
    values["policies"][0]["checkpoint"] = str(tmp_path / "nothing")
    with pytest.raises(ConfigError, match="nothing is no folder"):
        run(values, tmp_path / "out")
