"""Reading cells, worlds and calibrations."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, QuerySet

from labapp.cells.flatten import PARTS, Pair, compare
from labapp.cells.models import Calibration, Cell, World


@dataclass(frozen=True)
class PartComparison:
    """One part of two worlds, with the calibration of each (None where the part is nominal)."""

    part: str
    calibration_a: Calibration | None
    calibration_b: Calibration | None
    pairs: list[Pair]

    @property
    def differing(self) -> int:
        return sum(not pair.is_same for pair in self.pairs)


def cells() -> QuerySet[Cell]:
    return Cell.objects.annotate(
        world_count=Count("worlds", distinct=True),
        object_count=Count("cell_objects", distinct=True),
        set_count=Count("demonstration_sets", distinct=True),
    ).order_by("name")


def worlds() -> QuerySet[World]:
    return (
        World.objects.select_related(
            "cell", "created_by", "visual_calibration", "layout_calibration", "dynamics_calibration"
        )
        .annotate(configuration_count=Count("configurations", distinct=True))
        .order_by("cell__name", "name", "-version")
    )


def world_parts(world: World) -> list[dict[str, Any]]:
    """Each part with its values and the calibration that measured it."""
    compared = compare(world.parameters, world.parameters)
    return [
        {"name": part, "calibration": getattr(world, f"{part}_calibration"), "lines": compared.get(part, [])}
        for part in PARTS
    ]


def worlds_compare(a: World, b: World) -> list[PartComparison]:
    compared = compare(a.parameters, b.parameters)
    return [
        PartComparison(
            part, getattr(a, f"{part}_calibration"), getattr(b, f"{part}_calibration"), compared.get(part, [])
        )
        for part in PARTS
    ]
