"""A world's parameters as named lines, and two worlds line by line. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

PARTS = ("visual", "layout", "dynamics")
TOLERANCE = 1e-12


@dataclass(frozen=True)
class Line:
    """One value of one part; ``name`` is its dotted path within the part."""

    part: str
    name: str
    value: Any


@dataclass(frozen=True)
class Pair:
    """The same line of two worlds; ``delta`` is b - a where both are numbers, None elsewhere."""

    name: str
    a: Any
    b: Any

    @property
    def delta(self) -> float | None:
        return self.b - self.a if _is_number(self.a) and _is_number(self.b) else None

    @property
    def is_same(self) -> bool:
        return self.a == self.b if self.delta is None else abs(self.delta) <= TOLERANCE


def lines(parameters: Mapping[str, Any]) -> list[Line]:
    """Every value of the three parts, in order; ``grounded`` is left to the mark beside the part."""
    found = []
    for part in PARTS:
        for name, value in _walk(parameters.get(part, {})):
            if name != "grounded":
                found.append(Line(part, name, value))
    return found


def compare(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, list[Pair]]:
    """Pairs by part; a value that only one world has stands beside None."""
    by_part: dict[str, list[Pair]] = {}
    values_a = {(line.part, line.name): line.value for line in lines(a)}
    values_b = {(line.part, line.name): line.value for line in lines(b)}
    for part, name in dict.fromkeys([*values_a, *values_b]):
        pair = Pair(name, values_a.get((part, name)), values_b.get((part, name)))
        by_part.setdefault(part, []).append(pair)
    return by_part


def _walk(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _walk(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _walk(inner, f"{path}[{index}]")
    else:
        yield path, value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
