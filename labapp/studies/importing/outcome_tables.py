"""Reading a table of trial outcomes made elsewhere: pure, every row checked before any is used.

A table is long (one outcome a row, a column names the arm) or wide (several arms side by side in a row, paired by that
row). Both become the same list of ``OutcomeRow``.
"""

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from io import StringIO

from labapp.studies.importing.outcome_values import A_MOMENT, A_TIME, A_YES_OR_NO, moment, seconds, yes_or_no
from robots.agent.protocol import STAGES

DELIMITERS = ",;\t|"
LINE_END = re.compile(r"\r\n|\r|\n")
MAX_PROBLEMS = 100
MAX_LABEL = 80
TOLD_EVERY = 1000


@dataclass(frozen=True)
class ArmColumns:
    """Columns with one arm's outcome. ``label`` names the arm of a wide table and is empty for a long one."""

    success: str
    label: str = ""
    failure_mode: str = ""
    furthest_stage: str = ""
    duration_s: str = ""


@dataclass(frozen=True)
class TableMapping:
    """Which column means what.

    Args:
        outcomes: one entry for a long table, one per arm for a wide one.
        arm: column that names the arm of a long table.
        condition: column of the condition; empty = one condition for the whole file.
        block: columns whose values together pair the trials of different arms.
        factors: factor name to the column that gives its level.
        constants: factor name to the level that holds for the whole file.
        arm_factor: factor whose level is the arm's own name, such as "method"; empty = the arm is no factor.
    """

    outcomes: tuple[ArmColumns, ...]
    arm: str = ""
    condition: str = ""
    block: tuple[str, ...] = ()
    operator: str = ""
    started_at: str = ""
    factors: dict[str, str] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
    arm_factor: str = ""

    @property
    def is_wide(self) -> bool:
        """Whether a row holds several arms, paired by that row."""
        return bool(self.outcomes) and all(columns.label for columns in self.outcomes)

    def columns(self) -> list[str]:
        """Every column that the table must have."""
        named = [self.arm, self.condition, self.operator, self.started_at, *self.block, *self.factors.values()]
        for columns in self.outcomes:
            named += [columns.success, columns.failure_mode, columns.furthest_stage, columns.duration_s]
        return [name for name in dict.fromkeys(named) if name]


@dataclass(frozen=True)
class OutcomeRow:
    line: int
    arm: str
    factors: tuple[tuple[str, str], ...]
    condition: str
    is_success: bool
    failure_mode: str
    furthest_stage: str
    duration_s: float | None
    operator: str
    block: str
    started_at: datetime | None


@dataclass(frozen=True)
class Problem:
    """One cell of the file that cannot be read, and what would be right."""

    line: int
    column: str
    value: str
    expected: str

    def __str__(self) -> str:
        return f"line {self.line}, column “{self.column}”: “{self.value}” is not {self.expected}"


class TableRefused(Exception):
    """The file cannot be imported; ``problems`` lists what is wrong, line by line. Nothing was stored."""

    def __init__(self, message: str, problems: list[Problem] | None = None) -> None:
        super().__init__(message)
        self.problems = problems or []


class Lines:
    """The rows of a CSV text, its header first, with the number of the line that the last one ended on.

    The delimiter is the one that Excel's first line ``sep=;`` names, else whichever cuts the header into most columns.

    Raises:
        TableRefused: while reading, where a line is no CSV.
    """

    def __init__(self, text: str) -> None:
        text = text.removeprefix("\ufeff")
        self._skipped = 1 if text[:4].lower() == "sep=" else 0
        named = text[4:5] if self._skipped else ""
        first = [*LINE_END.split(text, maxsplit=self._skipped + 1), ""][self._skipped]
        self.delimiter = named or max(DELIMITERS, key=lambda mark: len(next(csv.reader([first], delimiter=mark), [])))
        source = StringIO(text, newline="")
        for _ in range(self._skipped):
            source.readline()
        self._reader = csv.reader(source, delimiter=self.delimiter)

    def __iter__(self) -> "Lines":
        return self

    def __next__(self) -> list[str]:
        try:
            return next(self._reader)
        except csv.Error as error:
            raise TableRefused(f"Line {self.number + 1} is no CSV: {error}.") from error

    @property
    def number(self) -> int:
        return self._reader.line_num + self._skipped


def table_header(text: str) -> list[str]:
    """Column names of a CSV file.

    Raises:
        TableRefused: an empty file, or a column named twice or without a name.
    """
    names = [name.strip() for name in next(Lines(text), [])]
    if not any(names):
        raise TableRefused("The file is empty: its first line must name the columns.")
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if twice:
        raise TableRefused(f"The file names a column twice: {', '.join(twice)}.")
    return [name or f"(column {number})" for number, name in enumerate(names, start=1)]


def read_outcomes(
    text: str, mapping: TableMapping, told: Callable[[int], None] = lambda line: None
) -> list[OutcomeRow]:
    """All outcomes of a CSV file, or none. ``told`` hears how many rows were read, now and then.

    Raises:
        TableRefused: a mapped column is missing, a row is too short or long, or a value cannot be read.
    """
    header = table_header(text)
    missing = [name for name in mapping.columns() if name not in header]
    if missing:
        raise TableRefused(f"The file has no column {', '.join(missing)}; it has {', '.join(header)}.")
    lines = Lines(text)
    reader = _Reader(mapping, has_decimal_comma=lines.delimiter != ",")
    rows = list(reader.rows(_records(lines, header, reader.problems, told)))
    if reader.problems:
        raise TableRefused(_count(len(reader.problems)), reader.problems[:MAX_PROBLEMS])
    if not rows:
        raise TableRefused("The file has a header but no rows: there is nothing to import.")
    return rows


def _count(problems: int) -> str:
    listed = f" The first {MAX_PROBLEMS} are listed." if problems > MAX_PROBLEMS else ""
    return f"{problems} value{'s' if problems > 1 else ''} cannot be read; nothing was imported.{listed}"


def _records(
    lines: Lines, header: list[str], problems: list[Problem], told: Callable[[int], None]
) -> Iterator[tuple[int, dict[str, str]]]:
    next(lines)
    for count, values in enumerate(lines, start=1):
        if count % TOLD_EVERY == 0:
            told(count)
        if not any(value.strip() for value in values):
            continue
        while len(values) > len(header) and not values[-1].strip():
            values.pop()  # spreadsheets pad rows
        if len(values) != len(header):
            problems.append(Problem(lines.number, "(row)", f"{len(values)} values", f"{len(header)} values"))
            continue
        yield lines.number, {name: value.strip() for name, value in zip(header, values, strict=True)}


class _Reader:
    """Turns records into outcomes and collects what is wrong."""

    def __init__(self, mapping: TableMapping, *, has_decimal_comma: bool) -> None:
        self.mapping = mapping
        self.has_decimal_comma = has_decimal_comma
        self.problems: list[Problem] = []

    def rows(self, records: Iterable[tuple[int, dict[str, str]]]) -> Iterator[OutcomeRow]:
        for line, record in records:
            before = len(self.problems)
            outcomes = [self._outcome(line, record, columns) for columns in self.mapping.outcomes]
            if len(self.problems) == before:
                yield from outcomes

    def _outcome(self, line: int, record: dict[str, str], columns: ArmColumns) -> OutcomeRow:
        m = self.mapping
        is_success = self._yes_or_no(line, record, columns.success)
        mode = record.get(columns.failure_mode, "")
        arm = columns.label or self._label(line, record, m.arm)
        return OutcomeRow(
            line=line,
            arm=arm,
            factors=self._factors(line, record, arm),
            condition=self._label(line, record, m.condition) if m.condition else "",
            is_success=is_success,
            failure_mode="" if is_success else mode[:40],
            furthest_stage=self._stage(line, record, columns.furthest_stage),
            duration_s=self._seconds(line, record, columns.duration_s),
            operator=record.get(m.operator, "")[:MAX_LABEL],
            block=self._block(line, record),
            started_at=self._moment(line, record, m.started_at),
        )

    def _factors(self, line: int, record: dict[str, str], arm: str) -> tuple[tuple[str, str], ...]:
        levels = {name: self._label(line, record, column) for name, column in self.mapping.factors.items()}
        own = {self.mapping.arm_factor: arm} if self.mapping.arm_factor else {}
        return tuple(sorted({**levels, **self.mapping.constants, **own}.items()))

    def _block(self, line: int, record: dict[str, str]) -> str:
        """The pairing key: the named columns, or the row itself where a row holds several arms."""
        if not self.mapping.block and self.mapping.is_wide:
            return f"line {line}"
        return " / ".join(record[name] for name in self.mapping.block)[:MAX_LABEL]

    def _stage(self, line: int, record: dict[str, str], column: str) -> str:
        value = record.get(column, "").lower()
        if value and value not in STAGES:
            self.problems.append(Problem(line, column, record[column], f"a stage ({', '.join(STAGES)})"))
        return value

    def _label(self, line: int, record: dict[str, str], column: str) -> str:
        value = record.get(column, "")
        if not value or len(value) > MAX_LABEL:
            self.problems.append(Problem(line, column, value, f"a name of 1 to {MAX_LABEL} characters"))
        return value

    def _yes_or_no(self, line: int, record: dict[str, str], column: str) -> bool:
        found = yes_or_no(record[column])
        if found is None:
            self.problems.append(Problem(line, column, record[column], A_YES_OR_NO))
        return bool(found)

    def _seconds(self, line: int, record: dict[str, str], column: str) -> float | None:
        value = record.get(column, "")
        found = seconds(value, comma=self.has_decimal_comma) if value else None
        if value and found is None:
            self.problems.append(Problem(line, column, value, A_TIME))
        return found

    def _moment(self, line: int, record: dict[str, str], column: str) -> datetime | None:
        value = record.get(column, "")
        found = moment(value) if value else None
        if value and found is None:
            self.problems.append(Problem(line, column, value, A_MOMENT))
        return found
