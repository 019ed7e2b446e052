"""Rows of trials from a CSV file, checked, and tallied into counts."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from labapp.statistics.counts import Count
from labapp.statistics.factorial import CELLS

Row = Mapping[str, str]
TRUE = frozenset({"1", "true", "yes", "success", "1.0"})
FALSE = frozenset({"0", "false", "no", "failure", "0.0"})
HIGH_LEVELS = frozenset({"grounded", *TRUE})


def read_rows(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """Rows of a CSV file that has (at least) the given columns.

    Raises:
        ValueError: naming the missing columns and those there are, or that there are no rows.
    """
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.DictReader(file)
        present = list(reader.fieldnames or [])
        missing = [name for name in columns if name not in present]
        if missing:
            raise ValueError(f"{path.name}: no column {', '.join(missing)}; it has: {', '.join(present) or 'none'}")
        rows = list(reader)
    if not rows:
        raise ValueError(f"{path.name}: a header and no rows")
    return rows


def is_success(row: Row, outcome: str, line: int) -> bool:
    """Whether the outcome column says success.

    Raises:
        ValueError: naming line and column where it says neither success nor failure.
    """
    text = (row[outcome] or "").strip().lower()
    if text in TRUE:
        return True
    if text in FALSE:
        return False
    raise ValueError(f"line {line}, column {outcome}: {row[outcome]!r} is neither 1 (success) nor 0 (failure)")


def tally(rows: Iterable[Row], by: Sequence[str], outcome: str) -> dict[tuple[str, ...], Count]:
    """Counts per combination of the `by` columns, in order of first appearance.

    Raises:
        ValueError: naming line and column of the first bad outcome or empty key.
    """
    counts: dict[tuple[str, ...], list[int]] = {}
    for line, row in enumerate(rows, start=2):  # line 1 is the header
        key = tuple((row[name] or "").strip() for name in by)
        for name, value in zip(by, key, strict=True):
            if not value:
                raise ValueError(f"line {line}, column {name}: empty; every row needs one")
        cell = counts.setdefault(key, [0, 0])
        cell[0] += is_success(row, outcome, line)
        cell[1] += 1
    return {key: Count(*cell) for key, cell in counts.items()}


def order_levels(values: Iterable[str], factor: str, given: Sequence[str] | None = None) -> tuple[str, str]:
    """The (low, high) levels of a factor; effects are high minus low.

    Declared levels win; else grounded, 1, true or yes is the high one; else the later in the alphabet.

    Raises:
        ValueError: where there are not exactly two levels or the declared ones differ from those in the rows.
    """
    found = sorted(set(values))
    if len(found) != 2:
        raise ValueError(f"factor {factor}: {len(found)} levels ({', '.join(found)}); a 2 x 2 design needs two")
    if given is not None:
        if sorted(given) != found:
            raise ValueError(f"factor {factor}: declared levels {', '.join(given)}; the rows have {', '.join(found)}")
        return given[0], given[1]
    if found[0].lower() in HIGH_LEVELS and found[1].lower() not in HIGH_LEVELS:
        return found[1], found[0]
    return found[0], found[1]


def factorial_table(
    counts: Mapping[tuple[str, ...], Count], levels: Sequence[tuple[str, str]]
) -> dict[str, list[Count]]:
    """Stratum -> four counts in the order of `factorial.CELLS`, from counts keyed (a, b[, stratum])."""
    strata = dict.fromkeys(key[2] if len(key) > 2 else "all" for key in counts)
    return {
        stratum: [
            counts.get((levels[0][a], levels[1][b], *((stratum,) if stratum_given(counts) else ())), Count(0, 0))
            for a, b in CELLS
        ]
        for stratum in strata
    }


def stratum_given(counts: Mapping[tuple[str, ...], Count]) -> bool:
    """Whether the keys of a tally carry a third part, the stratum."""
    return any(len(key) > 2 for key in counts)
