"""The looks outside the page: the printed command gives them again, report and export carry them, and name nobody."""

import csv
import json
import re
import shlex
from io import StringIO
from pathlib import Path

import pytest

from frontend.dashboards.content import LooksCard
from frontend.dashboards.filters import Filters
from labapp.results.exports import looks_lines, trial_lines
from labapp.results.queries import study_content
from labapp.statistics.__main__ import main
from labapp.studies import amendments
from labapp.studies.models import Study
from labapp.studies.selectors import sees_names
from tests.labapp.results.looked import ANYTIME, LOOKS, START, arm, card, looked_study, run_blocks

pytestmark = pytest.mark.django_db


def command_of(study: Study, looks: LooksCard, user, folder: Path, capsys) -> dict:
    """What the printed command gives for the exported rows."""
    path = folder / "rows.csv"
    path.write_text("".join(trial_lines(study, Filters(), sees_names(user, study))))
    words = shlex.split(looks.command)[3:]
    assert main([str(path) if word == f"{study.slug}-trials.csv" else word for word in words] + ["--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("last", [4, 7, 12, 20])
@pytest.mark.parametrize("primary", [[], ["main_a", "main_b", "interaction", "GG:real"]], ids=["pairs", "effects"])
def test_the_printed_command_gives_the_pages_looks_from_the_exported_rows(pi, primary, last, tmp_path, capsys) -> None:
    study = looked_study(pi, LOOKS, primary)
    run_blocks(study, 1, min(last, 6))
    amendments.arm_amend_withdrawn(study=study, arm=arm(study, "UU"), reason="weak", actor=pi, now=START)
    run_blocks(study, min(last, 6), last)
    looks = card(study, pi)
    answer = command_of(study, looks, pi, tmp_path, capsys)
    assert (answer["verdict"], answer["finished_blocks"]) == (looks.verdict, looks.finished)
    assert answer["look_blocks"] == list(looks.look_blocks)
    for told, shown in zip(answer["comparisons"], looks.comparisons, strict=True):
        assert told["key"] == shown.key
        assert [look["z"] for look in told["looks"]] == pytest.approx(list(shown.path.zs))
        edges = [look["boundary"] for look in told["looks"]]
        assert edges == pytest.approx(shown.path.boundaries[: len(edges)])


def test_the_printed_command_gives_the_pages_sequences(pi, researcher, tmp_path, capsys) -> None:
    study = looked_study(pi, ANYTIME | {"alpha": 0.1}, ["main_a", "GG:real"])
    run_blocks(study, 1, 18)
    for user in (pi, researcher):
        looks = card(study, user)
        answer = command_of(study, looks, user, tmp_path, capsys)
        assert answer["sentence"] == looks.sentence
        for told, shown in zip(answer["comparisons"], looks.comparisons, strict=True):
            assert 100 * told["low"] == pytest.approx(shown.path.lows[-1])
            assert told["decided_at"] == shown.path.decided_at


def test_the_report_and_the_export_carry_the_looks(pi, browser_of) -> None:
    study = looked_study(pi, LOOKS, ["main_a", "main_b"])
    run_blocks(study, 1, 10)
    client = browser_of(pi)
    text = b"".join(client.get(f"/results/{study.slug}/report.html")).decode()
    for expected in (
        "Looks: group-sequential",
        "boundary crossed at look 2",
        "sequential looked-at-trials.csv",
    ):
        assert expected in text, expected
    lines = b"".join(client.get(f"/results/{study.slug}/looks.csv")).decode().splitlines()
    assert len(lines) == 5
    assert lines[2].startswith("group-sequential,main_a,world grounding,2,10,")
    assert lines[2].endswith(",1")
    assert "looks.csv" in str(study_content(study, pi, Filters()).exports)
    study.analysis_plan["stopping"] = "anytime"
    rows = list(csv.DictReader(StringIO("".join(looks_lines(card(study, pi))))))
    assert len(rows) == 20 and rows[9]["block"] == "10"


def test_only_a_plan_with_looks_offers_their_export(pi, study, browser_of) -> None:
    assert "looks.csv" not in str(study_content(study, pi, Filters()).exports)
    assert browser_of(pi).get(f"/results/{study.slug}/looks.csv").status_code == 404


def test_no_download_of_a_blinded_studys_looks_names_a_policy(pi, researcher, browser_of) -> None:
    study = looked_study(pi, LOOKS, ["GG:UU", "main_a"])
    run_blocks(study, 1, 10)
    for name in ("looks.csv", "report.html"):
        text = b"".join(browser_of(researcher).get(f"/results/{study.slug}/{name}")).decode()
        text = re.sub("<script.*?</script>", "", text, flags=re.DOTALL)
        assert arm(study, "GG").code in text
        assert "GG" not in text and "world grounding" not in text.lower()
