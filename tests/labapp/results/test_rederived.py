"""The command line, fed with the rows that a study exports, gives the numbers of its results page."""

import csv
import json
import subprocess
import sys
from collections import defaultdict
from html import unescape
from io import StringIO
from itertools import combinations
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from django.utils import timezone

from frontend.dashboards.content import Content
from frontend.dashboards.filters import Filters, format_filters
from labapp.results.queries import study_content, study_sensitivity
from labapp.statistics.__main__ import main
from labapp.studies.importing.defaults import guess_import
from labapp.studies.importing.services import study_import
from labapp.studies.importing.tables import TableFile, read_files
from labapp.studies.models import Study, Trial
from tests.labapp.results.conftest import add_trials, build_study
from tests.labapp.studies.published import published_study

pytestmark = pytest.mark.django_db
SPOON = ("semantic_n10.csv", "control_n10.csv")
DEFAULT = Filters()


@pytest.fixture
def exported(pi, browser_of, tmp_path: Path):
    """``exported(study, filters)``: the rows as they are downloaded."""

    def download(study: Study, filters: Filters = DEFAULT) -> Path:
        answer = browser_of(pi).get(f"/results/{study.slug}/rows.csv{format_filters(filters)}")
        path = tmp_path / "rows.csv"
        path.write_bytes(b"".join(answer.streaming_content))
        return path

    return download


@pytest.fixture
def command(capsys):
    """``command("rate", "26", "50")``: the answer of the command line as a program reads it."""

    def run(*arguments: object) -> dict:
        assert main([*map(str, arguments), "--json"]) == 0, capsys.readouterr().err
        return json.loads(capsys.readouterr().out)

    return run


def confidence_of(filters: Filters) -> list[str]:
    return ["--confidence", str(filters.confidence)]


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(path.read_text())))


def assert_same_rates(content: Content, rows: list[dict[str, str]], filters: Filters, command) -> None:
    """`rate` of every cell of the table, counted from the rows of the conditions that it opens."""
    for line in content.rows:
        mine = [row for row in rows if row["policy"] == line.arm]
        assert line.cells[-1].trials == len(mine)
        for cell in line.cells:
            inside = [row for row in mine if row["condition"] in conditions_of(cell.href)]
            assert (sum(int(row["success"]) for row in inside), len(inside)) == (cell.successes, cell.trials)
            told = command("rate", cell.successes, cell.trials, *confidence_of(filters))
            assert (told["rate"], told["low"], told["high"]) == (cell.rate, cell.low, cell.high)


def conditions_of(href: str) -> set[str]:
    asked = parse_qs(urlsplit(href).query)
    return {slug for name in ("condition", "conditions") for text in asked.get(name, []) for slug in text.split(",")}


def assert_same_comparisons(content: Content, path: Path, filters: Filters, command) -> None:
    """`compare`: differences, intervals, adjusted p and letters; `difference` of each pair."""
    told = command("compare", path, "--arm", "policy", "--outcome", "success", *confidence_of(filters))
    pairs = {frozenset((c["first"], c["second"])): c for c in told["comparisons"]}
    shown = [line for line in content.comparisons if line.points is not None]
    assert len(shown) == len(pairs)
    for line in shown:
        found = pairs[frozenset((line.first, line.second))]
        sign = 1 if found["first"] == line.first else -1
        bounds = sorted(100 * sign * found[end] for end in ("low", "high"))
        assert (100 * sign * found["estimate"], *bounds) == pytest.approx((line.points, line.low, line.high))
        assert found["adjusted_p"] == pytest.approx(line.adjusted_p)
    letters = {line.arm: line.letters for line in content.rows if line.letters}
    assert {name: arm["letters"] for name, arm in told["arms"].items()} == letters


def assert_same_effects(content: Content, path: Path, filters: Filters, command) -> None:
    """`factorial` stratified by condition: estimates, intervals, p-values, posterior."""
    told = command("factorial", path, "--factors", ",".join(content.factor_names), "--outcome", "success",
                   "--stratum", "condition", *confidence_of(filters))  # fmt: skip
    lines = [line for line in content.effects if line.point.group == "all"]
    assert len(lines) == 3
    for key, line in zip(("main_a", "main_b", "interaction"), lines, strict=True):
        found = told["effects"][key]
        point = line.point
        assert [100 * found[name] for name in ("estimate", "low", "high")] == pytest.approx(
            [point.points, point.low, point.high]
        )
        assert found["p"] == pytest.approx(line.p)
    for key, line in zip(("main_a", "main_b", "interaction"), content.posterior, strict=False):
        found = told["posterior"][key]
        assert 100 * found["mean"] == pytest.approx(line.points)
        assert found["probability_positive"] == pytest.approx(line.probability)


@pytest.mark.parametrize(
    "filters",
    [DEFAULT, Filters(conditions=("nominal",)), Filters(confidence=0.9), Filters(arms=("K70", "K63", "K56", "K49"))],
    ids=["all", "one condition", "90 %", "four arms"],
)
def test_a_factorial_study_with_conditions(study: Study, pi, exported, command, filters: Filters) -> None:
    content, path = study_content(study, pi, filters), exported(study, filters)
    assert_same_rates(content, rows_of(path), filters, command)
    assert_same_comparisons(content, path, filters, command)
    assert_same_effects(content, path, filters, command)


def test_a_withdrawn_arm_and_unequal_numbers(study: Study, pi, exported, command) -> None:
    arm = study.arms.get(label="policy UG")
    arm.trials.filter(pk__in=list(arm.trials.values_list("pk", flat=True)[:17])).delete()
    arm.withdrawn_at, arm.withdrawal_reason = timezone.now(), "its hand broke"
    arm.save()
    add_trials(study.arms.get(label="policy GG"), study.conditions.get(slug="nominal"), 3, 9)
    content, path = study_content(study, pi, DEFAULT), exported(study)
    assert {line.cells[-1].trials for line in content.rows} == {59, 50, 33}
    assert_same_rates(content, rows_of(path), DEFAULT, command)
    assert_same_comparisons(content, path, DEFAULT, command)
    assert_same_effects(content, path, DEFAULT, command)


def test_a_cell_without_trials_in_one_condition(study: Study, pi, exported, command) -> None:
    study.arms.get(label="policy UU").trials.filter(condition__slug="red-light").delete()
    content, path = study_content(study, pi, DEFAULT), exported(study)
    assert any("leave out red-light" in note for note in content.notes)
    assert_same_rates(content, rows_of(path), DEFAULT, command)
    assert_same_effects(content, path, DEFAULT, command)


def test_an_arm_without_any_trial(study: Study, pi, exported, command) -> None:
    study.arms.get(label="policy UU").trials.all().delete()
    content, path = study_content(study, pi, DEFAULT), exported(study)
    assert (content.effects, content.posterior) == ((), ())
    assert_same_comparisons(content, path, DEFAULT, command)
    told = command("factorial", path, "--factors", "world,behavior", "--outcome", "success", "--stratum", "condition")
    assert {told["effects"][name] for name in ("main_a", "main_b", "interaction")} == {None}


def test_the_logistic_model(study: Study, pi, exported, command) -> None:
    for number, trial in enumerate(study.trials.order_by("pk")):
        Trial.objects.filter(pk=trial.pk).update(operator_label="ann" if number % 3 else "ben")
    path = exported(study)
    told = command("factorial", path, "--factors", "world,behavior", "--outcome", "success",
                   "--stratum", "condition", "--terms", "condition,operator_label")  # fmt: skip
    world = told["logistic"]["effects"]["world"]
    sentences = study_sensitivity(study, pi, DEFAULT)
    assert sentences[0].startswith("Logistic model with condition, operator: world +")
    assert f"world +{100 * world['estimate']:.1f} points" in sentences[0]
    assert f"to +{100 * world['high']:.1f}" in sentences[0]


@pytest.fixture
def rollouts(shared_data: Path) -> Study:
    """Real paired rollouts made by others, imported with the guessed mapping."""
    folder = shared_data / "outcomes_pi0_spoon"
    files = [TableFile(name, (folder / name).read_text()) for name in SPOON]
    rows = read_files(files, guess_import(files))
    return study_import(name="Spoon", rows=rows, actor=None, is_simulated=True, now=timezone.now())


def discordant(rows: list[dict[str, str]]) -> dict[tuple[str, str], tuple[int, int, int]]:
    """(first only, second only, pairs) of every pair of arms, from exported rows."""
    blocks: dict[tuple[str, str], dict[str, bool]] = defaultdict(dict)
    for row in rows:
        blocks[row["condition"], row["block_label"]][row["policy"]] = row["success"] == "1"
    found: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    for outcomes in blocks.values():
        for a, b in combinations(sorted(outcomes), 2):
            counts = found[a, b]
            counts[0] += outcomes[a] and not outcomes[b]
            counts[1] += outcomes[b] and not outcomes[a]
            counts[2] += 1
    return {pair: tuple(counts) for pair, counts in found.items()}


def test_real_paired_rollouts(rollouts: Study, pi, exported, command) -> None:
    content, path = study_content(rollouts, pi, DEFAULT), exported(rollouts)
    rows = rows_of(path)
    assert len(rows) == 800
    assert_same_rates(content, rows, DEFAULT, command)
    assert_same_comparisons(content, path, DEFAULT, command)
    assert_same_effects(content, path, DEFAULT, command)
    shown = {tuple(sorted((line.first, line.second))): line for line in content.paired}
    assert len(shown) == 2
    for pair, (n10, n01, pairs) in discordant(rows).items():
        line, told = shown[pair], command("paired", max(n10, n01), min(n10, n01), "--pairs", pairs)
        assert (line.only_first, line.only_second, line.pairs) == (told["n10"], told["n01"], 200)
        assert line.p == pytest.approx(told["p"])
        ends = [100 * told[name] for name in ("estimate", "low", "high")]
        assert ends == pytest.approx([line.points, line.low, line.high])


def test_the_real_rollouts_have_their_known_effects_everywhere(
    rollouts: Study, pi, browser_of, exported, tmp_path: Path
) -> None:
    """On the page, in the report, and by a real call of the command line: +16.0, -5.0 and half of +11.0 points."""
    path = exported(rollouts)
    arguments = ["factorial", str(path), "--factors", "method,category", "--outcome", "success"]
    done = subprocess.run(
        [sys.executable, "-m", "labapp.statistics", *arguments], capture_output=True, text=True, check=True, timeout=120
    )
    report = unescape(b"".join(browser_of(pi).get("/results/spoon/report.html")).decode())
    effects = study_content(rollouts, pi, DEFAULT).effects
    assert [round(line.point.points, 6) for line in effects[:3]] == [16.0, -5.0, 11.0]
    for line in effects[:3]:
        assert line.point.low < line.point.points < line.point.high
        assert line.sentence.split(" This many")[0] in report
    assert "raised success by 16.0 points (95% interval +9.3 to +22.5" in done.stdout
    assert "−5.0 points (95% interval −11." in done.stdout
    assert "Half-interaction +5.5 points." in done.stdout
    assert "in 66 of 200 pairs only cgvd / semantic succeeded" in report
    assert "in 45 of 200 pairs only cgvd / control succeeded" in report


def test_the_published_totals_say_what_can_be_said(pi, browser_of, exported, command) -> None:
    """26 and 43 of 50 and both corners; the mixed cells unknown, never invented."""
    study = published_study()
    content, path = study_content(study, pi, DEFAULT), exported(study)
    page = " ".join(content.notes)
    assert "cannot be told apart" in page and "is +28.0 points" in page
    assert (content.effects, content.posterior) == ((), ())
    assert_same_comparisons(content, path, DEFAULT, command)
    both = next(line for line in content.comparisons if line.points == pytest.approx(34))
    assert (both.low, both.high) == (pytest.approx(16.0, abs=0.05), pytest.approx(49.2, abs=0.05))
    told = command("factorial", path, "--factors", "world,behavior", "--outcome", "success")
    assert told["effects"]["main_a"] is None and told["effects"]["main_b"] is None
    assert 100 * told["effects"]["both"]["estimate"] == pytest.approx(28)
    report = b"".join(browser_of(pi).get(f"/results/{study.slug}/report.html")).decode()
    assert "no trials" in report and "is +28.0 points" in report


def test_a_study_without_any_scored_trial_exports_a_header_and_the_command_line_says_so(pi, exported, capsys) -> None:
    study = build_study(successes={"GG": (0, 0), "UU": (0, 0)})
    study.trials.all().delete()
    assert main(["compare", str(exported(study)), "--arm", "policy", "--outcome", "success"]) == 2
    assert "a header and no rows" in capsys.readouterr().err
