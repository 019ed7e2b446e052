"""`sequential ROWS.csv` and `power` under a stopping rule: numbers, sentences, bad input."""

import json
from pathlib import Path

import pytest

from labapp.statistics.__main__ import main

COLUMNS = ["--arm", "policy", "--outcome", "success", "--block", "block"]
LOOKS = ["--looks", "4", "--planned", "20"]
RATES = {"a": (1.0, "grounded"), "b": (0.5, "grounded"), "c": (0.0, "ungrounded"), "d": (0.0, "ungrounded")}


def run(capsys, *arguments: str) -> dict:
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def rows_file(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    lines = ["policy,world,behavior,block,success"]
    for block in range(1, 13):
        for (policy, (rate, world)), behavior in zip(RATES.items(), ("x", "y", "x", "y"), strict=True):
            lines.append(f"{policy},{world},{behavior},{block},{int(block * rate) - int((block - 1) * rate)}")
    path.write_text("\n".join(lines) + "\n")
    return path


def test_looks_at_every_pair(capsys, rows_file) -> None:
    answer = run(capsys, "sequential", str(rows_file), *COLUMNS, *LOOKS)
    assert (answer["finished_blocks"], answer["look_blocks"], answer["verdict"]) == (12, [5, 10, 15, 20], "go on")
    found = {row["key"]: row for row in answer["comparisons"]}
    assert found["a:c"]["crossed_at"] == 2
    assert found["c:d"]["crossed_at"] is None
    assert [look["block"] for look in found["c:d"]["looks"]] == [5, 10]


def test_effects_and_pairs_as_declared(capsys, rows_file) -> None:
    primary = ["--primary", "main_a,a:d", "--factors", "world,behavior"]
    answer = run(capsys, "sequential", str(rows_file), *COLUMNS, *LOOKS, *primary, "--shape", "pocock")
    assert [row["key"] for row in answer["comparisons"]] == ["main_a", "a:d"]
    assert answer["sentence"] == "Stop: every comparison crossed its boundary, the last at look 1."


def test_reading_at_any_time(capsys, rows_file) -> None:
    answer = run(capsys, "sequential", str(rows_file), *COLUMNS, "--anytime", "--primary", "a:c", "--confidence", "0.9")
    (pair,) = answer["comparisons"]
    assert answer["rule"] == "anytime"
    assert pair["low"] > 0 and pair["decided_at"] <= 12
    assert pair["level"] == pytest.approx(0.1)


def test_people_get_sentences(capsys, rows_file) -> None:
    assert main(["sequential", str(rows_file), *COLUMNS, *LOOKS]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("Go on: ")
    assert out[1] == "12 of 20 blocks are finished; next look after block 15 of 20."
    assert out[-1].startswith("Level 0.05, two-sided, split over 6 comparisons")


def test_an_arm_without_rows_keeps_its_blocks_waiting_unless_it_is_withdrawn(capsys, rows_file) -> None:
    arms = ["--arms", "a,b,c,d,e"]
    assert run(capsys, "sequential", str(rows_file), *COLUMNS, *LOOKS, *arms)["finished_blocks"] == 0
    gone = run(capsys, "sequential", str(rows_file), *COLUMNS, *LOOKS, *arms, "--withdrawn", "e")
    assert gone["finished_blocks"] == 12
    assert gone["comparisons"][3]["key"] == "a:e" and gone["comparisons"][3]["looks"][0]["z"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--looks", "4"], "--looks needs --planned"),
        ([*LOOKS, "--primary", "main_a"], "main_a needs --factors"),
        ([*LOOKS, "--primary", "a:z"], "a:z names no two of the arms a, b, c, d"),
        ([*LOOKS, "--withdrawn", "z"], "--withdrawn z: no arm of the rows"),
        ([*LOOKS, "--arms", "a,b"], "line 4, column policy: 'c' is none of a, b"),
        ([*LOOKS, "--primary", "main_a", "--factors", "world"], "two columns are needed"),
    ],
)
def test_bad_options_are_one_line_and_status_two(capsys, rows_file, arguments, message) -> None:
    assert main(["sequential", str(rows_file), *COLUMNS, *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a,grounded,x,twelve,1", "line 50, column block: 'twelve' is no block"),
        ("a,grounded,x,0,1", "line 50, column block: '0' is no block"),
        ("a,grounded,x,3,1", "line 50: a second trial of a in block 3"),
        ("a,grounded,x,13,maybe", "line 50, column success: 'maybe' is neither"),
    ],
)
def test_a_bad_row_names_its_line(capsys, rows_file, line, message) -> None:
    rows_file.write_text(rows_file.read_text() + line + "\n")
    assert main(["sequential", str(rows_file), *COLUMNS, *LOOKS]) == 2
    assert message in capsys.readouterr().err


def test_power_with_looks(capsys) -> None:
    paper = run(capsys, "power", "--cells", "0.86,0.82,0.74,0.58", "--n", "50", "--looks", "4")
    world = paper["stopping"]["comparisons"]["main_a"]
    assert paper["main_a"] == pytest.approx(0.86, abs=0.02)
    assert world["power"] == pytest.approx(0.84, abs=0.02)
    assert world["expected"] < 42 < world["expected_without_effect"] < 50
    pocock = run(capsys, "power", "--pair", "0.86,0.52", "--n", "50", "--looks", "5", "--shape", "pocock")
    assert pocock["stopping"]["comparisons"]["difference"]["expected"] < 30


def test_power_at_any_time(capsys) -> None:
    answer = run(capsys, "power", "--pair", "0.86,0.52", "--n", "50", "--anytime")
    pair = answer["stopping"]["comparisons"]["difference"]
    assert 0.4 < pair["power"] < answer["power"]
    assert 25 < pair["median_block"] < 60


def test_a_base_rate_has_no_stopping_rule(capsys) -> None:
    assert main(["power", "--base", "0.6", "--n", "50", "--looks", "3"]) == 2
    assert "--base has no stopping rule" in capsys.readouterr().err
