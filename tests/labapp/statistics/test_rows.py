"""Rows of a CSV file: what is wrong is said with line and column."""

from pathlib import Path

import pytest

from labapp.statistics.counts import Count
from labapp.statistics.rows import factorial_table, order_levels, read_rows, tally


def test_a_missing_column_is_named_with_those_there_are(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("world,result\nG,1\n")
    with pytest.raises(ValueError, match=r"rows.csv: no column success; it has: world, result"):
        read_rows(path, ["world", "success"])


def test_a_header_without_rows_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("success\n")
    with pytest.raises(ValueError, match="no rows"):
        read_rows(path, ["success"])


def test_a_bad_outcome_in_row_37_is_named() -> None:
    rows = [{"arm": "a", "success": "1"}] * 35 + [{"arm": "a", "success": "maybe"}]
    with pytest.raises(ValueError, match="line 37, column success: 'maybe'"):
        tally(rows, ["arm"], "success")


def test_an_empty_key_is_named() -> None:
    with pytest.raises(ValueError, match="line 2, column arm: empty"):
        tally([{"arm": " ", "success": "1"}], ["arm"], "success")


def test_outcomes_are_read_in_the_usual_spellings() -> None:
    rows = [{"arm": "a", "success": text} for text in ("1", "true", "Yes", "0", "False", "no", "failure")]
    assert tally(rows, ["arm"], "success") == {("a",): Count(3, 7)}


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        (["grounded", "ungrounded"], "ungrounded", "grounded"),
        (["0", "1"], "0", "1"),
        (["false", "true"], "false", "true"),
        (["cgvd", "baseline"], "baseline", "cgvd"),
    ],
)
def test_levels_are_ordered_low_to_high(values: list[str], low: str, high: str) -> None:
    assert order_levels(values, "world") == (low, high)


def test_declared_levels_win_and_must_exist() -> None:
    assert order_levels(["a", "b"], "f", ["b", "a"]) == ("b", "a")
    with pytest.raises(ValueError, match="declared levels b, c; the rows have a, b"):
        order_levels(["a", "b"], "f", ["b", "c"])


def test_three_levels_are_no_two_by_two() -> None:
    with pytest.raises(ValueError, match="factor f: 3 levels"):
        order_levels(["a", "b", "c"], "f")


def test_a_table_has_empty_cells_where_there_are_no_rows() -> None:
    counts = {("g", "g", "nominal"): Count(3, 4), ("u", "g", "red"): Count(1, 2)}
    table = factorial_table(counts, [("u", "g"), ("u", "g")])
    assert table == {
        "nominal": [Count(3, 4), Count(0, 0), Count(0, 0), Count(0, 0)],
        "red": [Count(0, 0), Count(0, 0), Count(1, 2), Count(0, 0)],
    }
