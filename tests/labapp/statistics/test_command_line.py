"""The command line: numbers for programs, sentences for people, exit status 2 for bad input."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from labapp.statistics.__main__ import main
from tests.labapp.statistics.test_factorial import spoon_rows


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def rows_file(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    lines = ["world,behavior,policy,condition,operator,success"]
    cells = {("grounded", "grounded"): 43, ("grounded", "ungrounded"): 41, ("ungrounded", "grounded"): 37}
    for (world, behavior), k in {**cells, ("ungrounded", "ungrounded"): 29, ("", ""): 26}.items():
        start = f"{world},{behavior},{world[:1] or 'real'}/{behavior[:1]}"
        lines += [f"{start},{'nominal' if i % 2 else 'red'},op{i % 3},{int(i < k)}" for i in range(50)]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_rate(capsys) -> None:
    assert run(capsys, "rate", "26", "50")["low"] == pytest.approx(0.3851, abs=5e-5)
    assert run(capsys, "rate", "0", "0")["rate"] is None
    assert run(capsys, "rate", "0", "50", "--method", "clopper-pearson")["high"] == pytest.approx(0.0711, abs=5e-5)


def test_difference(capsys) -> None:
    answer = run(capsys, "difference", "43", "50", "26", "50", "--margin", "0.1")
    assert (answer["low"], answer["high"]) == pytest.approx((0.160, 0.492), abs=5e-4)
    assert answer["equivalence"]["verdict"] == "better by more than the margin"


def test_paired(capsys) -> None:
    assert run(capsys, "paired", "66", "23")["p"] == pytest.approx(5.7e-6, rel=0.01)
    assert run(capsys, "paired", "45", "24", "--pairs", "200")["low"] > 0
    assert run(capsys, "paired", "0", "0")["p"] == 1


def test_an_interval_that_may_cover_more_says_so(capsys) -> None:
    assert main(["rate", "26", "50", "--method", "clopper-pearson"]) == main(["paired", "5", "1", "--pairs", "10"]) == 0
    text = capsys.readouterr().out
    assert text.count("exact: covers at least as often as it says") == 2
    assert "With 20 pairs or fewer, Tango's interval covers more" in text


def test_factorial(capsys, rows_file: Path) -> None:
    answer = run(capsys, "factorial", str(rows_file), "--factors", "world,behavior", "--outcome", "success",
                 "--stratum", "condition", "--terms", "operator")  # fmt: skip
    assert answer["effects"]["main_a"]["estimate"] == pytest.approx(0.18)
    assert answer["effects"]["main_b"]["estimate"] == pytest.approx(0.10)
    assert answer["rows_without_factors"] == 50
    assert answer["posterior"]["main_a"]["probability_positive"] > 0.99
    assert answer["logistic"]["effects"]["world"]["estimate"] == pytest.approx(0.18, abs=0.02)


def test_a_real_factorial_through_the_command_line(capsys, shared_data: Path, tmp_path: Path) -> None:
    rows = spoon_rows(shared_data / "outcomes_pi0_spoon")
    path = tmp_path / "spoon.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    answer = run(capsys, "factorial", str(path), "--factors", "method,category", "--outcome", "success")
    effects = answer["effects"]
    assert effects["main_a"]["estimate"] == pytest.approx(0.16)
    assert effects["main_b"]["estimate"] == pytest.approx(-0.05)
    assert answer["half_interaction"] == pytest.approx(0.055)
    flipped = run(capsys, "factorial", str(path), "--factors", "method,category", "--outcome", "success",
                  "--levels", "category=semantic,control")  # fmt: skip
    assert flipped["effects"]["main_b"]["estimate"] == pytest.approx(0.05)


def test_compare(capsys, rows_file: Path) -> None:
    answer = run(capsys, "compare", str(rows_file), "--arm", "policy", "--outcome", "success")
    assert answer["arms"]["g/g"]["letters"] == "a"
    assert len(answer["comparisons"]) == 10
    assert all(c["adjusted_p"] >= c["p"] for c in answer["comparisons"])


def test_power(capsys) -> None:
    paper = run(capsys, "power", "--cells", "0.86,0.82,0.74,0.58", "--n", "50")
    assert (paper["main_a"], paper["main_b"]) == pytest.approx((0.86, 0.39), abs=0.005)
    assert run(capsys, "power", "--pair", "0.86,0.52", "--n", "50")["power"] > 0.95
    assert 0.1 < run(capsys, "power", "--base", "0.6", "--n", "50")["detectable"]["main_effect"] < 0.2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rate", "51", "50"], "rate: count: 51 successes of 50 trials"),
        (["factorial", "no-such.csv", "--factors", "a,b", "--outcome", "y"], "no-such.csv"),
        (["factorial", "x.csv", "--factors", "a", "--outcome", "y"], "two columns are needed"),
        (["power", "--pair", "a,b", "--n", "5"], "rates are numbers"),
        (["rate", "1", "2", "--confidence", "95"], "did you mean 0.95"),
    ],
)
def test_bad_input_is_one_line_and_status_two(capsys, arguments: list[str], message: str) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_it_runs_as_a_module_and_without_django() -> None:
    code = "import sys, runpy; sys.modules['django'] = None; sys.argv = ['s', 'rate', '26', '50']; " \
           "runpy.run_module('labapp.statistics', run_name='__main__')"  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "26 of 50 succeeded: 52%" in done.stdout
