"""Several outcome tables as one study: pure. All rows of all files are checked before any is used."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

from labapp.statistics.counts import Count
from labapp.studies.importing.outcome_tables import (
    MAX_LABEL,
    OutcomeRow,
    Problem,
    TableMapping,
    TableRefused,
    read_outcomes,
)
from robots import config
from robots.errors import ConfigError


class TableFile(NamedTuple):
    """A table by the name of its file; ``sha256`` is of the file's bytes."""

    name: str
    text: str
    sha256: str = ""
    encoding: str = "UTF-8"


@dataclass(frozen=True)
class ImportMapping:
    """How several files are read.

    Args:
        table: what the columns mean, in every file.
        files: file name -> factor levels that hold for all of its rows.
        pairs_across_files: whether a pairing key means the same in every file; else pairs stay within their file.
    """

    table: TableMapping
    files: dict[str, dict[str, str]] = field(default_factory=dict)
    pairs_across_files: bool = False

    def to_json(self) -> dict[str, Any]:
        """Plain values that `from_json` takes: kept with the study, so that the import can be made again."""
        table = asdict(self.table) | {"block": list(self.table.block)}
        return table | {
            "outcomes": [asdict(columns) for columns in self.table.outcomes],
            "files": {name: dict(levels) for name, levels in self.files.items()},
            "pairs_across_files": self.pairs_across_files,
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "ImportMapping":
        """The mapping as the API and the command line take it: TableMapping's fields, and the two of this class.

        Raises:
            TableRefused: a field that there is not, or outcomes without a success column.
        """
        table = {"outcomes": (), **values}
        shared = {name: table.pop(name) for name in ("files", "pairs_across_files") if name in table}
        if isinstance(table.get("block"), str):
            table["block"] = [table["block"]]
        try:
            mapping = config.from_json(cls, {"table": config.from_json(TableMapping, table), **shared})
        except ConfigError as error:
            raise TableRefused(f"The mapping cannot be read: {error}.") from error
        check_mapping(mapping.table)
        return mapping


def check_mapping(mapping: TableMapping) -> None:
    """Whether a mapping says enough.

    Raises:
        TableRefused: no success column, arms that are not told apart, or a factor named twice.
    """
    if not mapping.outcomes or not all(columns.success for columns in mapping.outcomes):
        raise TableRefused("Choose the column that says whether a trial succeeded.")
    if not mapping.is_wide and (not mapping.arm or len(mapping.outcomes) > 1):
        raise TableRefused("Choose the column that names the arm, or name each arm of a wide table.")
    labels = [columns.label for columns in mapping.outcomes]
    twice = [label for label, count in Counter(labels).items() if count > 1]
    if twice:
        raise TableRefused(f"Two arms are called “{twice[0]}”; give each its own name.")
    names = [*mapping.factors, *mapping.constants, *([mapping.arm_factor] if mapping.arm_factor else [])]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise TableRefused(f"The factor “{twice[0]}” is named twice.")
    given = [*labels, *names, *mapping.constants.values()]
    wrong = next((name for name in given if len(name) > MAX_LABEL or not name.isprintable()), None)
    if wrong is not None:
        raise TableRefused(f"A name or level has at most {MAX_LABEL} letters, all printable; got {wrong[:80]!a}.")


class FileProblem(NamedTuple):
    """One value that cannot be read, and in which file."""

    file: str
    problem: Problem

    def __str__(self) -> str:
        return f"{self.file}, {self.problem}"


class ImportRefused(Exception):
    """Some file cannot be imported; nothing was stored. ``problems`` lists what is wrong, file by file."""

    def __init__(self, message: str, problems: Sequence[FileProblem] = ()) -> None:
        super().__init__(message)
        self.problems = list(problems)


def read_files(
    files: Sequence[TableFile], mapping: ImportMapping, told: Callable[[int], None] = lambda rows: None
) -> list[OutcomeRow]:
    """All outcomes of all files, or none. ``told`` hears how many lines of all files were read, now and then.

    Raises:
        ImportRefused: with the problems of every file, not only of the first.
    """
    rows: list[OutcomeRow] = []
    messages: list[str] = []
    problems: list[FileProblem] = []
    lines = 0
    for file in files:
        try:
            check_mapping(table := _table_of(file, mapping))
            read = read_outcomes(file.text, table, lambda count, before=lines: told(before + count))
            rows += [_labelled(row, file, files, mapping) for row in read]
        except TableRefused as error:
            messages.append(f"{file.name}: {error}")
            problems += [FileProblem(file.name, problem) for problem in error.problems]
        lines += line_count(file)
    if messages:
        raise ImportRefused(" ".join(messages), problems)
    return rows


def line_count(file: TableFile) -> int:
    """Lines after the header, empty ones too."""
    return max(0, len(file.text.splitlines()) - 1)


def _table_of(file: TableFile, mapping: ImportMapping) -> TableMapping:
    own = {name: level for name, level in mapping.files.get(file.name, {}).items() if name}
    return replace(mapping.table, constants={**mapping.table.constants, **own})


def _labelled(row: OutcomeRow, file: TableFile, files: Sequence[TableFile], mapping: ImportMapping) -> OutcomeRow:
    if not row.block or len(files) == 1 or mapping.pairs_across_files:
        return row
    return replace(row, block=f"{file.name}: {row.block}"[:MAX_LABEL])


class Summary(NamedTuple):
    """What an import would make: arms with their counts, conditions, pairs, and what looks odd."""

    arms: tuple[tuple[str, Count], ...]
    conditions: tuple[str, ...]
    trials: int
    pairs: int
    oddities: tuple[str, ...]


def summary(rows: Sequence[OutcomeRow]) -> Summary:
    """What these rows would make, before anything is stored."""
    arms: dict[str, Count] = {}
    blocks: dict[str, Counter[str]] = {}
    for row in rows:
        name = arm_name(row)
        arms[name] = arms.get(name, Count(0, 0)) + Count(int(row.is_success), 1)
        if row.block:
            blocks.setdefault(f"{row.condition}\n{row.block}", Counter())[name] += 1
    repeated = sum(1 for arm_counts in blocks.values() for count in arm_counts.values() if count > 1)
    oddities = []
    if repeated:
        oddities.append(
            f"{repeated} times an arm has several trials under one pairing key; such keys are left out of paired "
            "comparisons. Add the column that tells them apart."
        )
    oddities += _repeats(rows)
    if len({count.trials for count in arms.values()}) > 1:
        oddities.append(
            "The arms have unequal numbers of trials: every rate has its own n, and only pairs with both are compared."
        )
    return Summary(
        tuple(arms.items()),
        tuple(dict.fromkeys(row.condition or "all trials" for row in rows)),
        len(rows),
        sum(1 for arm_counts in blocks.values() if len(arm_counts) > 1),
        tuple(oddities),
    )


def _repeats(rows: Sequence[OutcomeRow]) -> list[str]:
    """Rows that say word for word what an earlier one said, where something tells trials apart (a key or a moment)."""
    seen: dict[OutcomeRow, int] = {}
    again = []
    for row in rows:
        first = seen.setdefault(replace(row, line=0), row.line) if row.block or row.started_at else row.line
        if first != row.line:
            again.append((row.line, first))
    if not again:
        return []
    line, first = again[0]
    return [f"{len(again)} rows repeat an earlier one word for word (line {line} repeats line {first}): counted twice?"]


def arm_name(row: OutcomeRow) -> str:
    """An arm in words: its label and the factor levels that the label does not say already."""
    return " / ".join([row.arm, *(level for _, level in row.factors if level != row.arm)])
