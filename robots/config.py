"""Frozen dataclasses from JSON and back; an error names the path of the field.

Field types: bool, int, float, str, None, Path, Enum, Literal, X | Y, list, tuple, dict, nested dataclasses.
"""

import dataclasses
import enum
import json
import os
import sys
import tempfile
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from robots.errors import ConfigError

T = TypeVar("T")


def load_config(cls: type[T], source: str | Path | Mapping[str, Any]) -> T:
    """A `cls` from a JSON file or a mapping.

    Raises:
        ConfigError: unreadable file, unknown or missing field, wrong type, or what `__post_init__` refuses.
    """
    if isinstance(source, Mapping):
        return from_json(cls, source)
    try:
        values = json.loads(Path(source).read_text())
    except OSError as error:
        raise ConfigError(f"cannot read {source}: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(f"{source} is not JSON: {error}") from error
    return from_json(cls, values)


def from_json(cls: type[T], values: Any) -> T:
    """A dataclass from parsed JSON; raises ConfigError naming the field."""
    if not isinstance(values, Mapping):
        raise ConfigError(f"expected an object with the fields of {cls.__name__}, got {_show(values)}")
    fields = {field.name: field for field in dataclasses.fields(cls) if field.init}  # type: ignore[arg-type]  # T is a dataclass
    _check_names(fields, values)
    hints = typing.get_type_hints(cls)
    built = {name: _under(name, hints[name], values[name]) for name in values}
    try:
        return cls(**built)
    except ConfigError:
        raise
    except ValueError as error:
        raise ConfigError(str(error)) from error


def to_json(value: Any) -> Any:
    """A dataclass (or list, tuple, dict of them) as JSON-able values."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, enum.Enum):
        return value.value
    return str(value) if isinstance(value, Path) else value


def save_config(config: Any, path: str | Path) -> None:
    """Write a config as JSON, atomically; folders are created."""
    write_json(path, to_json(config))


def write_json(path: str | Path, value: Any, indent: int | None = 2) -> None:
    """Replace a JSON file atomically: a reader sees the old or the new text, never half of one."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w") as file:
            file.write(json.dumps(value, indent=indent, ensure_ascii=False))  # dumps, not dump: several times faster
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _check_names(fields: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    for name in values:
        if name not in fields:
            raise ConfigError(f"no such field; known: {', '.join(fields)}", str(name))
    for name, field in fields.items():
        has_default = field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
        if name not in values and not has_default:
            raise ConfigError("is required", name)


def _under(name: str, hint: Any, value: Any) -> Any:
    try:
        return _convert(hint, value)
    except ConfigError as error:
        raise error.inside(name) from error


def _convert(hint: Any, value: Any) -> Any:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return value
    if origin in (typing.Union, types.UnionType):
        return _convert_union(arguments, value)
    if origin is typing.Literal:
        return _one_of(arguments, value)
    if origin in (list, tuple, dict) or hint in (list, tuple, dict):
        return _convert_container(origin or hint, arguments, value)
    if isinstance(hint, type) and (dataclasses.is_dataclass(hint) or issubclass(hint, enum.Enum)):
        return _convert_class(hint, value)
    return _convert_plain(hint, value)


def _convert_class(hint: type[Any], value: Any) -> Any:
    if isinstance(value, hint):
        return value
    if issubclass(hint, enum.Enum):
        return hint(_one_of(tuple(member.value for member in hint), value))
    return from_json(hint, value)


def _convert_plain(hint: Any, value: Any) -> Any:
    if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        if not -sys.float_info.max <= value <= sys.float_info.max:  # JSON has integers of any length
            raise ConfigError(f"must be a finite number, got {_show(value)}")
        return float(value)
    if hint is int and isinstance(value, int) and not isinstance(value, bool):
        return value
    if hint is Path and isinstance(value, str | Path):
        return Path(value)
    if hint in (bool, str) and isinstance(value, hint):
        return value
    if hint in (None, type(None)) and value is None:
        return None
    raise ConfigError(f"must be {_type_name(hint)}, got {_show(value)}")


def _convert_union(options: tuple[Any, ...], value: Any) -> Any:
    errors = []
    for option in options:
        try:
            return _convert(option, value)
        except ConfigError as error:
            errors.append(error)
    deep = [error for error in errors if error.field]
    if deep:
        raise deep[0]
    concrete = [error for option, error in zip(options, errors, strict=True) if option is not type(None)]
    if len(concrete) == 1:
        raise concrete[0]
    raise ConfigError(f"must be {' or '.join(_type_name(option) for option in options)}, got {_show(value)}")


def _convert_container(kind: Any, arguments: tuple[Any, ...], value: Any) -> Any:
    if kind is dict:
        if not isinstance(value, Mapping):
            raise ConfigError(f"must be an object, got {_show(value)}")
        hint = arguments[1] if arguments else Any
        return {key: _under(str(key), hint, item) for key, item in value.items()}
    if not isinstance(value, list | tuple):
        raise ConfigError(f"must be a list, got {_show(value)}")
    hints = _element_hints(kind, arguments, len(value))
    return kind(_under(f"[{i}]", hint, item) for i, (hint, item) in enumerate(zip(hints, value, strict=True)))


def _element_hints(kind: Any, arguments: tuple[Any, ...], count: int) -> list[Any]:
    if not arguments:
        return [Any] * count
    if kind is list or arguments[-1] is Ellipsis:
        return [arguments[0]] * count
    if len(arguments) != count:
        raise ConfigError(f"must have {len(arguments)} entries, got {count}")
    return list(arguments)


def _one_of(options: tuple[Any, ...], value: Any) -> Any:
    if value not in options:
        raise ConfigError(f"must be one of {', '.join(map(repr, options))}, got {_show(value)}")
    return value


def _type_name(hint: Any) -> str:
    names = {float: "a number", int: "a whole number", str: "text", bool: "true or false", Path: "a path"}
    return "null" if hint in (None, type(None)) else names.get(hint, getattr(hint, "__name__", str(hint)))


def _show(value: Any) -> str:
    text = json.dumps(value, default=repr)
    return text if len(text) <= 60 else text[:57] + "..."
