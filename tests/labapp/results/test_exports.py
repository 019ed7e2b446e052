"""Downloads: what is in them, and that the command line re-derives the page's numbers from them."""

import csv
from io import StringIO

import pytest

from frontend.dashboards.filters import Filters
from labapp.results.exports import csv_lines, table_lines, trial_lines
from labapp.results.queries import study_content
from labapp.statistics.factorial import factorial
from labapp.statistics.rows import factorial_table, order_levels, tally
from labapp.studies.models import Study, Trial


def rows_of(lines) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO("".join(lines))))


def test_the_table_has_one_line_per_arm_and_column(study: Study, pi) -> None:
    content = study_content(study, pi, Filters())
    rows = rows_of(table_lines(content, 0.95))
    assert len(rows) == 5 * len(content.columns)
    best = next(row for row in rows if (row["arm"], row["condition"]) == ("policy GG", "All"))
    assert (best["successes"], best["trials"], best["is_simulated"]) == ("43", "50", "1")
    assert float(best["low"]) == pytest.approx(0.7381, abs=5e-5)


def test_the_exported_rows_give_the_pages_effects(study: Study, pi) -> None:
    rows = rows_of(trial_lines(study, Filters(), with_names=True))
    assert len(rows) == 250
    factored = [row for row in rows if row["world"]]
    levels = [order_levels([row[name] for row in factored], name) for name in ("world", "behavior")]
    counts = tally(factored, ["world", "behavior", "condition"], "success")
    effects = factorial(factorial_table(counts, levels)).effects
    shown = {
        line.point.effect: line.point
        for line in study_content(study, pi, Filters()).effects
        if line.point.group == "all"
    }
    assert 100 * effects["main_a"].low == pytest.approx(shown["world grounding"].low)
    assert 100 * effects["main_b"].estimate == pytest.approx(shown["behavior grounding"].points)


def test_rows_without_names_carry_no_factor_column(study: Study) -> None:
    header = next(trial_lines(study, Filters(), with_names=False))
    assert "world" not in header
    assert "behavior" not in header


def test_rows_follow_the_filters_and_leave_out_what_is_not_confirmed(study: Study) -> None:
    trial = study.trials.filter(condition__slug="nominal").first()
    trial.status, trial.invalid_reason = Trial.Status.INVALID, "belt stopped"
    trial.save()
    assert len(rows_of(trial_lines(study, Filters(conditions=("nominal",)), with_names=True))) == 119


def test_a_text_that_a_spreadsheet_would_run_is_quoted() -> None:
    assert list(csv_lines(["a"], [["=HYPERLINK(1)"], [None], [True], [-0.5]]))[1:] == [
        "'=HYPERLINK(1)\r\n",
        '""\r\n',
        "1\r\n",
        "-0.5\r\n",
    ]
