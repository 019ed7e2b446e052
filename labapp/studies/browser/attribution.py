"""An attribution as values: read from JSON or Parquet, checked row by row, thinned for a plot. Pure.

Rows are steps in time, columns are components (parts of a mixture, camera views, ...). ``shares`` of a row sum to 1;
``scores`` stand each for itself, between 0 and 1. A value that is not known is null (NaN here).
"""

import io
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from django.core.exceptions import ValidationError
from numpy.typing import NDArray

SHARES, SCORES = "shares", "scores"
TIME = "time_s"
MAX_ROWS, MAX_COMPONENTS, LONGEST_NAME = 100_000, 32, 60
SUM_TOLERANCE = 0.01
RANGE_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Attribution:
    """``times_s`` (n,) rises from 0 or later; ``values`` (n, d) in 0..1, NaN where unknown.

    Raises:
        ValidationError: keyed ``time_s``, ``components``, ``shares`` or ``scores``; it names the row, counted from 1.
    """

    kind: str
    components: tuple[str, ...]
    times_s: NDArray[np.float64]
    values: NDArray[np.float64]

    def __post_init__(self) -> None:
        _check_components(self.components)
        _check_times(self.times_s)
        _check_values(self.kind, self.components, self.times_s, self.values)

    def check_within(self, duration_s: float | None, slack_s: float = 1.0) -> None:
        """Raises ValidationError when a step lies after the trial's end: it belongs to another trial then."""
        if duration_s is not None and self.times_s[-1] > duration_s + slack_s:
            row = int(np.argmax(self.times_s > duration_s + slack_s))
            said = f"{_row(row, self.times_s)} lies after the end of this trial, which took {duration_s:.2f} s."
            raise ValidationError({TIME: f"{said} Times count in seconds from the trial's start."})


def from_json(body: Mapping[str, Any]) -> Attribution:
    """``{"time_s": [...], "shares": {"name": [...], ...}}``, or ``scores`` in place of ``shares``."""
    kinds = [kind for kind in (SHARES, SCORES) if kind in body]
    if len(kinds) != 1:
        raise ValidationError({SHARES: "Send either “shares” (each row sums to 1) or “scores” (each 0 to 1)."})
    columns = body[kinds[0]]
    if not isinstance(columns, Mapping):
        raise ValidationError({kinds[0]: 'Wanted an object of names and lists: {"real": [0.4, ...], ...}.'})
    times = _numbers(TIME, TIME, body.get(TIME))
    found = {str(name): _numbers(kinds[0], str(name), values) for name, values in columns.items()}
    return _built(kinds[0], times, found)


def from_parquet(content: bytes, kind: str = SHARES) -> Attribution:
    """A table with ``time_s`` and one column of numbers per component; nulls are unknown values."""
    if kind not in (SHARES, SCORES):
        raise ValidationError({"kind": f"Wanted {SHARES} or {SCORES}, got {kind[:20]!r}."})
    try:
        stored = pq.ParquetFile(io.BytesIO(content))
        _check_rows(kind, stored.metadata.num_rows)  # before anything is read: a small file may hold very many
        _check_schema(kind, stored.schema_arrow)
        table = stored.read()
    except (pa.ArrowException, OSError) as error:
        raise ValidationError({"file": f"This is no Parquet table: {str(error).splitlines()[0][:200]}"}) from error
    columns = {name: _arrow_numbers(table[name]) for name in table.column_names}
    return _built(kind, columns.pop(TIME), columns)


def to_parquet(attribution: Attribution) -> bytes:
    """What `from_parquet` reads."""
    columns = {name: attribution.values[:, at] for at, name in enumerate(attribution.components)}
    file = io.BytesIO()
    pq.write_table(pa.table({TIME: attribution.times_s, **columns}), file, compression="zstd")
    return file.getvalue()


def kind_of(values: NDArray[np.float64]) -> str:
    """Shares where every known row sums to 1, else scores."""
    known = values[np.isfinite(values).all(axis=1)]
    return SHARES if len(known) and np.allclose(known.sum(axis=1), 1, atol=SUM_TOLERANCE) else SCORES


def thinned(attribution: Attribution, max_points: int) -> dict[str, Any]:
    """For a page: ``times_s`` (n) and ``values`` (d lists of n), null where unknown; first and last row are kept."""
    count = len(attribution.times_s)
    keep = np.unique(np.linspace(0, count - 1, min(max_points, count)).round().astype(int))
    rows = np.round(attribution.values[keep].T, 4)
    return {
        "kind": attribution.kind,
        "components": list(attribution.components),
        "times_s": np.round(attribution.times_s[keep], 3).tolist(),
        "values": [[None if np.isnan(value) else value for value in row] for row in rows.tolist()],
    }


def _built(kind: str, times: NDArray[np.float64], columns: dict[str, NDArray[np.float64]]) -> Attribution:
    for name, values in columns.items():
        if len(values) != len(times):
            said = f"“{name[:LONGEST_NAME]}” has {len(values)} values and {TIME} has {len(times)}: one per row, please."
            raise ValidationError({kind: said})
    stacked = np.stack(list(columns.values()), axis=1) if columns else np.empty((len(times), 0))
    return Attribution(kind, tuple(columns), times, stacked)


def _numbers(field: str, name: str, values: Any) -> NDArray[np.float64]:
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise ValidationError({field: f"“{name[:LONGEST_NAME]}” must be a list of numbers."})
    _check_rows(field, len(values))
    for row, value in enumerate(values, start=1):
        if value is not None and not _is_number(value):
            said = f"row {row} of “{name[:LONGEST_NAME]}” is {str(value)[:40]!r}: a number was wanted, or null."
            raise ValidationError({field: said})
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _check_schema(kind: str, schema: pa.Schema) -> None:
    if TIME not in schema.names:
        has = ", ".join(schema.names[:10]) or "none"
        raise ValidationError({TIME: f"The table has no column {TIME} [s]; its columns are: {has}."})
    _check_count(len(schema.names) - 1)
    twice = next((name for name in schema.names if schema.names.count(name) > 1), None)
    if twice is not None:
        raise ValidationError({"components": f"Two columns are called “{twice[:LONGEST_NAME]}”: one of each, please."})
    for column in schema:
        if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
            said = f"Column “{column.name[:LONGEST_NAME]}” holds {column.type}: numbers were wanted."
            raise ValidationError({kind: said})


def _arrow_numbers(column: pa.ChunkedArray) -> NDArray[np.float64]:
    return column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)  # integers beyond 2^53 are rounded


def _is_number(value: Any) -> bool:
    """Also whether it is one as a double: JSON has integers of any length."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= sys.float_info.max or not isinstance(value, int)


def _check_rows(field: str, rows: int) -> None:
    if rows > MAX_ROWS:
        raise ValidationError({field: f"At most {MAX_ROWS} rows, got {rows}: keep every second one."})


def _check_count(components: int) -> None:
    if components > MAX_COMPONENTS:
        raise ValidationError({"components": f"1 to {MAX_COMPONENTS} components, got {components}."})


def _check_components(components: tuple[str, ...]) -> None:
    if not components:
        raise ValidationError({"components": f"1 to {MAX_COMPONENTS} components, got 0."})
    _check_count(len(components))
    wrong = next((name for name in components if not _is_name(name)), None)
    if wrong is not None:
        said = f"A component's name has 1 to {LONGEST_NAME} letters, all printable, and is not {TIME}: {wrong[:80]!a}."
        raise ValidationError({"components": said})


def _is_name(name: str) -> bool:
    return bool(name.strip()) and len(name) <= LONGEST_NAME and name.isprintable() and name != TIME


def _check_times(times: NDArray[np.float64]) -> None:
    if not len(times):
        raise ValidationError({TIME: "There is no row: at least one step is needed."})
    if not np.isfinite(times).all():
        raise ValidationError({TIME: f"row {int(np.argmin(np.isfinite(times))) + 1} has no time."})
    if times[0] < 0:
        raise ValidationError({TIME: f"{_row(0, times)} lies before the trial's start: times begin at 0 or later."})
    falls = np.flatnonzero(np.diff(times) <= 0)
    if len(falls):
        row = int(falls[0]) + 1
        raise ValidationError({TIME: f"{_row(row, times)} is not after the row before ({times[row - 1]:g} s)."})


def _check_values(
    kind: str, components: tuple[str, ...], times: NDArray[np.float64], values: NDArray[np.float64]
) -> None:
    wrong = np.argwhere(np.isinf(values) | (values < -RANGE_TOLERANCE) | (values > 1 + RANGE_TOLERANCE))
    if len(wrong):
        row, column = (int(at) for at in wrong[0])
        said = f"{_row(row, times)}: “{components[column]}” is {values[row, column]:g}; right is 0 to 1, or null."
        raise ValidationError({kind: said})
    if kind != SHARES:
        return
    sums = values.sum(axis=1)  # NaN where a share is unknown
    off = np.flatnonzero(np.abs(sums - 1) > SUM_TOLERANCE)
    if len(off):
        row = int(off[0])
        said = f"{_row(row, times)}: the shares sum to {sums[row]:.3g}; right is 1 (within {SUM_TOLERANCE})."
        raise ValidationError({kind: f"{said} Values that stand each for itself are “scores”."})


def _row(row: int, times: NDArray[np.float64]) -> str:
    return f"row {row + 1} ({TIME} {times[row]:g})"
