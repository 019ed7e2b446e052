"""Extra facts of an episode (object, seed, outcome, ...) as typed columns of the episodes table.

Numbers, booleans and text are plain columns. Dicts, lists, and whatever is null the first time, are JSON text; the
column's field metadata says so, and readers get the value back.
"""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from robots.errors import DataError

JSON_METADATA = {b"encoding": b"json"}
STANDARD = frozenset({"episode_index", "tasks", "length", "dataset_from_index", "dataset_to_index"})
STANDARD_PREFIXES = ("data/", "videos/", "meta/", "stats/")


def is_extra(name: str) -> bool:
    """Whether a column of an episodes table is an extra fact rather than part of the format."""
    return name not in STANDARD and not name.startswith(STANDARD_PREFIXES)


def infer_fields(extra: Mapping[str, Any]) -> dict[str, pa.Field]:
    """One arrow field per extra, from the values of the first episode.

    Raises:
        DataError: a name that the format itself uses.
    """
    for name in extra:
        if not is_extra(name) or not name:
            raise DataError(f"extra {name!r} is a column of the format itself: choose another name")
    return {name: _field(name, plain(value)) for name, value in extra.items()}


def encode(fields: Mapping[str, pa.Field], extra: Mapping[str, Any]) -> dict[str, Any]:
    """Column values of one episode; facts left out are null.

    Raises:
        DataError: a fact that the earlier episodes don't have, or of another type.
    """
    for name in extra:
        if name not in fields:
            known = ", ".join(fields) or "none"
            raise DataError(f"extra {name!r} is not among those of the first episode ({known}): give it there, or null")
    return {name: _encode(field, plain(extra.get(name))) for name, field in fields.items()}


def decode(field: pa.Field, value: Any) -> Any:
    """The fact behind a column value."""
    if value is not None and is_json(field):
        return json.loads(value)
    return value


def is_json(field: pa.Field) -> bool:
    """Whether a column holds JSON text."""
    return (field.metadata or {}).get(b"encoding") == b"json"


def unify(tables: Iterable[Mapping[str, pa.Field]]) -> dict[str, pa.Field]:
    """Fields for the extras of several folders: their union; where types differ, numbers widen, the rest is JSON."""
    merged: dict[str, pa.Field] = {}
    for fields in tables:
        for name, field in fields.items():
            merged[name] = _wider(merged[name], field) if name in merged else field
    return merged


def plain(value: Any) -> Any:
    """The value with numpy types as Python's, tuples as lists, and non-finite numbers as null."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _field(name: str, value: Any) -> pa.Field:
    types = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}
    if type(value) in types:
        return pa.field(name, types[type(value)])
    return pa.field(name, pa.string(), metadata=JSON_METADATA)


def _encode(field: pa.Field, value: Any) -> Any:
    if value is None:
        return None
    if is_json(field):
        return json.dumps(value, ensure_ascii=False)
    accepted: Any = {pa.bool_(): bool, pa.int64(): int, pa.float64(): (int, float), pa.string(): str}[field.type]
    if not isinstance(value, accepted) or (isinstance(value, bool) and field.type != pa.bool_()):
        raise DataError(f"extra {field.name!r} is {field.type} in the first episode, got {value!r}")
    return float(value) if field.type == pa.float64() else value


def _wider(first: pa.Field, second: pa.Field) -> pa.Field:
    if first.type == second.type and is_json(first) == is_json(second):
        return first
    if {first.type, second.type} == {pa.int64(), pa.float64()}:
        return pa.field(first.name, pa.float64())
    return pa.field(first.name, pa.string(), metadata=JSON_METADATA)
