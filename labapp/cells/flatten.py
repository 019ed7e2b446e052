"""A world's parameters as named lines, and two worlds line by line. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from robots.cell.world import CameraParameters

PARTS = ("visual", "layout", "dynamics")
TOLERANCE = 1e-12
UNITS = {
    "offset": "m", "rotvec": "rad", "blur_sigma_px": "px", "belt_offset": "m", "left_bin_offset": "m",
    "right_bin_offset": "m", "arm_base_offset": "m", "damping": "N m s/rad", "delay": "s",
}  # fmt: skip


@dataclass(frozen=True)
class Pair:
    """The same value of two worlds; ``name`` is its dotted path within the part."""

    name: str
    a: Any
    b: Any

    @property
    def label(self) -> str:
        """The path for people, its unit left to ``unit``: ``head focal_scale``, ``head blur_sigma``."""
        return self.name.removeprefix("cameras.").removesuffix("_px").replace(".", " ")

    @property
    def unit(self) -> str:
        return UNITS.get(self.name.rsplit(".", 1)[-1], "")

    @property
    def delta(self) -> float | list[float] | None:
        """b - a, entry by entry for vectors; None where the values are no numbers of the same shape."""
        if _is_vector(self.a) and _is_vector(self.b) and len(self.a) == len(self.b):
            return [y - x for x, y in zip(self.a, self.b, strict=True)]
        return self.b - self.a if _is_number(self.a) and _is_number(self.b) else None

    @property
    def is_same(self) -> bool:
        delta = self.delta
        if delta is None:
            return bool(self.a == self.b)
        return all(abs(d) <= TOLERANCE for d in (delta if isinstance(delta, list) else [delta]))


def compare(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, list[Pair]]:
    """Pairs by part. A camera that only one world names is, in the other, as the cell is described."""
    cameras = {name for world in (a, b) for name in world.get("visual", {}).get("cameras", {})}
    values_a, values_b = _values(a, cameras), _values(b, cameras)
    by_part: dict[str, list[Pair]] = {part: [] for part in PARTS}
    for part, name in dict.fromkeys([*values_a, *values_b]):
        by_part[part].append(Pair(name, values_a.get((part, name)), values_b.get((part, name))))
    return by_part


def named_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Nested values by dotted path, in order."""
    return dict(_walk(values))


def _values(world: Mapping[str, Any], cameras: set[str]) -> dict[tuple[str, str], Any]:
    """(part, path) -> value; ``grounded`` is left to the mark beside the part."""
    parts = {part: dict(world.get(part, {})) for part in PARTS}
    described = {name: asdict(CameraParameters()) for name in sorted(cameras)}
    if described:
        parts["visual"]["cameras"] = described | dict(parts["visual"].get("cameras", {}))
    return {(part, n): v for part, inner in parts.items() for n, v in _walk(inner) if n != "grounded"}


def _walk(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _walk(inner, f"{path}.{key}" if path else str(key))
    elif _is_vector(value):
        yield path, list(value)
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from _walk(inner, f"{path}[{index}]")
    else:
        yield path, value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_vector(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(_is_number(entry) for entry in value)
