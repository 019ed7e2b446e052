"""Downloads: what is in them, and that the command line re-derives the page's numbers from them."""

import csv
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

from frontend.dashboards.content import Content
from frontend.dashboards.filters import Filters
from labapp.results.exports import csv_lines, table_lines, trial_lines, write_parquet
from labapp.results.queries import study_content
from labapp.results.tables import html_table, latex_table
from labapp.statistics.factorial import factorial
from labapp.statistics.rows import factorial_table, order_levels, tally
from labapp.studies.models import Study, StudyEvent, Trial
from tests.labapp.results.conftest import build_study


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


def test_parquet_holds_the_same_rows_with_types(study: Study, tmp_path: Path) -> None:
    from pyarrow import parquet

    path = tmp_path / "rows.parquet"
    with path.open("wb") as file:
        write_parquet(file, study, Filters(), with_names=True)
    table = parquet.read_table(path)
    assert table.num_rows == 250
    assert str(table.schema.field("success").type) == "bool"
    assert table["success"].to_pylist().count(True) == study.trials.filter(is_success=True).count()
    assert set(table["world"].to_pylist()) == {"grounded", "ungrounded", ""}


def renamed(content: Content, name: str) -> Content:
    return replace(content, rows=(replace(content.rows[0], arm=name), *content.rows[1:]))


def test_the_latex_table_escapes_names_and_has_every_cell(study: Study, pi) -> None:
    text = latex_table(renamed(study_content(study, pi, Filters()), "policy_GG & co"), 0.95)
    assert r"policy\_GG \& co & 22/24, 92 [74, 98] & 21/26, 81 [62, 91] & 43/50, 86 [74, 93] \\" in text
    assert text.count(r"\\") == 6
    two_lines = latex_table(replace(study_content(study, pi, Filters()), name="One\n\\input{two}"), 0.95)
    assert two_lines.startswith(r"% One \textbackslash{}input\{two\}, data version"), "a comment stays one"


def test_the_html_table_escapes_names(study: Study, pi) -> None:
    text = html_table(renamed(study_content(study, pi, Filters()), "<script>alert(1)</script>"))
    assert "<script>" not in text
    assert "43/50, <b>86%</b>" in text


def test_the_report_is_one_file_with_numbers_plan_deviations_and_hashes(db, pi, browser_of) -> None:
    study = build_study(analysis_plan={"primary": "world & behavior"})
    StudyEvent.objects.create(study=study, kind="amended", reason="belt replaced", actor=pi)
    answer = browser_of(pi).get("/results/pick-and-sort/report.html?confidence=0.9")
    text = b"".join(answer).decode()
    for expected in (
        "43/50", "World grounding raised success by 18.0 points", "belt replaced", "world &amp; behavior",
        study.design_sha256, "90% Wilson", "simulated", "Deviation: amended", "Boschloo",
    ):  # fmt: skip
        assert expected in text, expected
    outside = text.replace(text[text.index("<script") : text.rindex("</script>")], "")
    assert "http://" not in outside
    assert "https://" not in outside


@pytest.mark.parametrize("name", ["table.csv", "table.tex", "table.html", "rows.csv", "rows.parquet", "report.html"])
def test_no_download_of_a_blinded_study_names_a_policy_to_a_researcher(
    study: Study, researcher, operator, browser_of, name: str
) -> None:
    answer = browser_of(researcher).get(f"/results/pick-and-sort/{name}")
    content = b"".join(answer)
    assert b"K70" in content
    assert b"policy GG" not in content
    assert b"real-only" not in content
    assert browser_of(operator).get(f"/results/pick-and-sort/{name}").status_code == 403


def test_a_text_that_a_spreadsheet_would_run_is_quoted() -> None:
    assert list(csv_lines(["a"], [["=HYPERLINK(1)"], [None], [True], [-0.5]]))[1:] == [
        "'=HYPERLINK(1)\r\n",
        '""\r\n',
        "1\r\n",
        "-0.5\r\n",
    ]
