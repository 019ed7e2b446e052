"""Downloads: the success table and the trials behind it, with the names that the viewer may see."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import IO, Any

from django.db.models import F

from frontend.dashboards.content import Content, LookedComparison, LooksCard
from frontend.dashboards.filters import Filters
from frontend.figures.data import LookPath
from labapp.results.tallies import scored, selected_trials
from labapp.studies.arms import Arm, study_arms
from labapp.studies.export import csv_lines as table_csv_lines
from labapp.studies.models import Study

LOOKS_COLUMNS = (
    "rule", "key", "comparison", "look", "block", "z", "boundary", "points", "low", "high", "is_decided",
)  # fmt: skip
TABLE_COLUMNS = ("arm", "condition", "successes", "trials", "rate", "low", "high", "confidence", "is_simulated")
CHUNK = 2000
TYPES = {
    "is_shifted": "bool", "block": "int64", "success": "bool", "duration_s": "float64", "latency_ms": "float64",
    "is_automatic": "bool", "is_simulated": "bool",
}  # fmt: skip

# Column of the file -> where the trial has it. The first three columns and is_simulated are added per row.
TRIAL_COLUMNS = {
    "trial": F("pk"),
    "started_at": F("started_at"),
    "condition": F("condition__slug"),
    "is_shifted": F("condition__is_shifted"),
    "block": F("slot__block"),
    "block_label": F("block_label"),
    "object": F("slot__object__name"),
    "success": F("is_success_then"),
    "failure_mode": F("failure_mode_then"),
    "furthest_stage": F("furthest_stage_then"),
    "duration_s": F("duration_s_then"),
    "latency_ms": F("latency_ms_then"),
    "operator": F("operator__username"),
    "operator_label": F("operator_label"),
    "is_automatic": F("is_automatic"),
}


def csv_lines(header: Iterable[str], rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    """Lines of a CSV file whose values the command line reads back."""
    return table_csv_lines([plain(value) for value in row] for row in chain([header], rows))


def plain(value: Any) -> Any:
    """A value as the command line reads it back."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return int(value)
    return value.isoformat() if hasattr(value, "isoformat") else value


def write_parquet(file: IO[bytes], study: Study, filters: Filters, with_names: bool) -> None:
    """The same rows as Parquet, in chunks whatever their number."""
    import pyarrow as pa
    from pyarrow import parquet

    header, rows = trial_rows(study, filters, with_names)
    schema = pa.schema([(name, TYPES.get(name, "string")) for name in header])
    schema = schema.set(header.index("started_at"), pa.field("started_at", pa.timestamp("us", tz="UTC")))
    with parquet.ParquetWriter(file, schema) as writer:
        for chunk in batched(rows, CHUNK):
            columns = [
                pa.array([str(v) if v is not None and field.type == "string" else v for v in column], field.type)
                for field, column in zip(schema, zip(*chunk, strict=True), strict=True)
            ]
            writer.write_table(pa.table(columns, schema=schema))


def batched(rows: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Lists of up to `size` rows."""
    iterator = iter(rows)
    while chunk := list(islice(iterator, size)):
        yield chunk


def table_lines(content: Content, confidence: float) -> Iterator[str]:
    """The success table in long form: one line per arm and column of the page."""
    rows = (
        (row.arm, column, cell.successes, cell.trials, cell.rate, cell.low, cell.high, confidence, row.is_simulated)
        for row in content.rows
        for column, cell in zip(content.columns, row.cells, strict=True)
    )
    return csv_lines(TABLE_COLUMNS, rows)


def looks_lines(looks: LooksCard) -> Iterator[str]:
    """The looks in long form: one line per comparison and look that was reached, or block of its sequence."""
    return csv_lines(
        LOOKS_COLUMNS, (line for comparison in looks.comparisons for line in _looks_rows(looks, comparison))
    )


def _looks_rows(looks: LooksCard, comparison: LookedComparison) -> Iterator[list[Any]]:
    start, path = [looks.rule, comparison.key, comparison.label], comparison.path
    if isinstance(path, LookPath):
        reached = zip(path.look_blocks, path.zs, path.boundaries, comparison.estimates, strict=False)
        for number, (block, z, boundary, estimate) in enumerate(reached, start=1):
            yield [*start, number, block, z, boundary, estimate, None, None, block == path.crossed_block]
    else:
        for block, estimate, low, high in zip(path.blocks, path.estimates, path.lows, path.highs, strict=True):
            is_decided = path.decided_at is not None and block >= path.decided_at
            yield [*start, None, block, None, None, estimate, low, high, is_decided]


def trial_lines(study: Study, filters: Filters, with_names: bool) -> Iterator[str]:
    """The confirmed trials as lines of a CSV file."""
    return csv_lines(*trial_rows(study, filters, with_names))


def trial_rows(study: Study, filters: Filters, with_names: bool) -> tuple[list[str], Iterator[list[Any]]]:
    """Header and confirmed trials, one row each, read in chunks whatever their number.

    Factor columns are there only where names are: a factor level identifies an arm.
    """
    arms = {arm.id: arm for arm in study_arms(study, with_names)}
    factors = list(dict.fromkeys(name for arm in arms.values() for name in arm.factors))
    trials = scored(selected_trials(study, filters)).order_by("started_at", "pk")
    values = trials.values_list("arm_id", *TRIAL_COLUMNS.values()).iterator(chunk_size=CHUNK)
    header = ["arm", "policy", *factors, *TRIAL_COLUMNS, "is_simulated"]
    return header, ([*_arm_values(arms[v[0]], factors), *v[1:], study.is_simulated] for v in values)


def _arm_values(arm: Arm, factors: list[str]) -> list[str]:
    return [arm.code, arm.name, *(arm.factors.get(name, "") for name in factors)]
