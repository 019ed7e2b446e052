"""Parquet tables of an episodes folder: rows, episodes, tasks."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from robots.episodes.extras import decode, is_extra
from robots.episodes.features import Feature
from robots.episodes.stats import STAT_NAMES, Stats
from robots.errors import DataError

_TASK_PANDAS = {
    "index_columns": ["task"],
    "column_indexes": [
        {"name": None, "field_name": None, "pandas_type": "unicode", "numpy_type": "object", "metadata": None}
    ],
    "columns": [
        {
            "name": "task_index",
            "field_name": "task_index",
            "pandas_type": "int64",
            "numpy_type": "int64",
            "metadata": None,
        },
        {"name": "task", "field_name": "task", "pandas_type": "unicode", "numpy_type": "object", "metadata": None},
    ],
    "pandas_version": "2.2.0",
}


def read_table(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """One parquet file; raises DataError naming the file when it is missing or has no valid footer."""
    try:
        with pq.ParquetFile(path) as file:
            return file.read(columns=columns, use_threads=False)  # small files: threads cost more than they bring
    except FileNotFoundError as error:
        raise DataError(f"{path} is missing") from error
    except (OSError, pa.ArrowException) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"{path} is broken, as a killed recorder leaves it: {reason}") from error


def read_schema(path: Path) -> pa.Schema:
    """Columns of one parquet file."""
    return pq.read_schema(path).remove_metadata()


def write_table(path: Path, table: pa.Table) -> None:
    """One parquet file, snappy as the format's own library writes it; folders are created."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, compression="snappy")


def rows_table(features: Mapping[str, Feature], columns: Mapping[str, NDArray[Any]]) -> pa.Table:
    """The data table of one episode from arrays (T, ...) per feature of numbers or text."""
    arrays, fields = [], []
    for name, feature in features.items():
        if feature.is_known and not feature.is_video:
            fields.append(pa.field(name, feature.arrow_type()))
            arrays.append(_arrow_column(feature, columns[name]))
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def _arrow_column(feature: Feature, values: NDArray[Any]) -> pa.Array:
    if feature.dtype == "string":
        return pa.array(values.tolist(), pa.string())
    array = pa.array(np.ascontiguousarray(values, dtype=feature.dtype).reshape(-1))
    if feature.shape != (1,):
        for size in reversed(feature.shape):
            array = pa.FixedSizeListArray.from_arrays(array, size)
    return array


def to_numpy(column: pa.ChunkedArray, feature: Feature) -> NDArray[Any]:
    """A data column as an array: (T,) for scalars, else (T, *shape); objects where the feature is no number."""
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks else pa.array([], array.type)
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if not feature.is_numeric:
        found = np.empty(len(array), dtype=object)
        found[:] = array.to_pylist()
        return found
    while isinstance(array, pa.FixedSizeListArray | pa.ListArray):
        array = array.flatten()
    flat = array.to_numpy(zero_copy_only=False)
    shape = (len(column),) if feature.shape == (1,) else (len(column), *feature.shape)
    if flat.size != int(np.prod(shape)):
        raise DataError(f"column holds {flat.size} numbers, expected {len(column)} rows of shape {list(feature.shape)}")
    return flat.reshape(shape).astype(feature.dtype, copy=False)


def episodes_schema(features: Mapping[str, Feature], extra: Mapping[str, pa.Field]) -> pa.Schema:
    """The episodes table; every file of a folder has this schema, so that loaders can concatenate them."""
    integer, real = pa.int64(), pa.float64()
    fields = [pa.field("episode_index", integer), pa.field("tasks", pa.list_(pa.string())), pa.field("length", integer)]
    fields += [pa.field(name, integer) for name in ("data/chunk_index", "data/file_index")]
    fields += [pa.field(name, integer) for name in ("dataset_from_index", "dataset_to_index")]
    for key in (name for name, feature in features.items() if feature.is_video):
        fields += [pa.field(f"videos/{key}/{name}", integer) for name in ("chunk_index", "file_index")]
        fields += [pa.field(f"videos/{key}/{name}", real) for name in ("from_timestamp", "to_timestamp")]
        fields += [pa.field(f"videos/{key}/available", pa.bool_())]
    fields += extra.values()
    for name, feature in features.items():
        if feature.is_numeric or feature.is_camera:
            fields += [pa.field(f"stats/{name}/{stat}", _stat_type(feature, stat)) for stat in STAT_NAMES]
    fields += [pa.field(name, integer) for name in ("meta/episodes/chunk_index", "meta/episodes/file_index")]
    return pa.schema(fields)


def _stat_type(feature: Feature, stat: str) -> pa.DataType:
    if stat == "count":
        return pa.list_(pa.int64())
    depth = 3 if feature.is_camera else len(feature.shape)
    kind: pa.DataType = pa.float64()
    for _ in range(depth):
        kind = pa.list_(kind)
    return kind


def flat_stats(stats: Mapping[str, Stats]) -> dict[str, Any]:
    """Statistics as columns of the episodes table."""
    return {f"stats/{name}/{stat}": value.tolist() for name, part in stats.items() for stat, value in part.items()}


def row_stats(row: Mapping[str, Any]) -> dict[str, Stats]:
    """The inverse of `flat_stats`; features without statistics are left out."""
    found: dict[str, Stats] = {}
    for column, value in row.items():
        if column.startswith("stats/") and value is not None:
            name, stat = column.removeprefix("stats/").rsplit("/", 1)
            found.setdefault(name, {})[stat] = np.atleast_1d(np.asarray(value))
    return found


def episodes_table(schema: pa.Schema, rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Rows of the episodes table; what a row does not say is null."""
    rows = list(rows)
    return pa.Table.from_pydict({name: [row.get(name) for row in rows] for name in schema.names}, schema=schema)


def read_episode_rows(path: Path, *, with_stats: bool) -> tuple[list[dict[str, Any]], dict[str, pa.Field]]:
    """Rows of one episodes file with extras decoded, and the fields of the extras."""
    try:
        with pq.ParquetFile(path) as file:
            schema = file.schema_arrow
            columns = [name for name in schema.names if with_stats or not name.startswith("stats/")]
            table = file.read(columns=columns, use_threads=False)
    except (OSError, pa.ArrowException) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"{path} is broken, as a killed recorder leaves it: {reason}") from error
    fields = {name: schema.field(name) for name in schema.names if is_extra(name)}
    lacking = [
        name for name in ("episode_index", "length", "data/chunk_index", "data/file_index") if name not in columns
    ]
    if lacking:
        raise DataError(f"{path}: columns {lacking} are missing")
    rows = table.to_pylist()
    for row in rows:
        for name, field in fields.items():
            row[name] = decode(field, row[name])
    return rows, fields


def write_tasks(path: Path, tasks: Sequence[str]) -> None:
    """tasks.parquet: a pandas frame whose index is the task text, in order of task_index."""
    table = pa.table({"task_index": pa.array(range(len(tasks)), pa.int64()), "task": pa.array(tasks, pa.string())})
    temporary = path.with_name(f".{path.name}")
    write_table(temporary, table.replace_schema_metadata({b"pandas": json.dumps(_TASK_PANDAS).encode()}))
    temporary.replace(path)


def read_tasks(path: Path) -> dict[int, str]:
    """task_index -> text, from tasks.parquet of any writer (whatever its index column is called)."""
    table = read_table(path)
    others = [name for name in table.column_names if name != "task_index"]
    if "task_index" not in table.column_names or not others:
        raise DataError(f"{path} must have a task_index column and an index of task texts, got {table.column_names}")
    text = next((name for name in ("task", "__index_level_0__") if name in others), others[0])
    return dict(zip(table["task_index"].to_pylist(), map(str, table[text].to_pylist()), strict=True))
