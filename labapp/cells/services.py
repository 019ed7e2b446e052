"""Changing cells and worlds."""

import hashlib
import json
from dataclasses import asdict
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max

from labapp.accounts.models import User
from labapp.cells.flatten import PARTS
from labapp.cells.models import Calibration, Cell, CellObject, World
from labapp.cells.params import MeasureWorldParams, NominalWorldParams
from labapp.runs.models import Run
from labapp.runs.services import run_create
from robots.cell.bench import BENCH_CELL
from robots.cell.description import ObjectDescription

BENCH_SLUG = "bench"
BENCH_SEED = 7


@transaction.atomic
def bench_cell_ensure() -> Cell:
    """The bench cell and its objects, made from the description once."""
    cell, is_new = Cell.objects.get_or_create(
        slug=BENCH_SLUG,
        defaults={
            "name": "Bench cell",
            "embodiment": BENCH_CELL.name,
            "description": json.loads(json.dumps(asdict(BENCH_CELL))),
            "is_simulated": True,
            "bench_seed": BENCH_SEED,
        },
    )
    if is_new:
        CellObject.objects.bulk_create(_object_row(cell, found) for found in BENCH_CELL.objects)
    return cell


def _object_row(cell: Cell, described: ObjectDescription) -> CellObject:
    return CellObject(
        cell=cell,
        name=described.name,
        label=described.name,
        shape=described.shape,
        size_m=_extents(described),
        mass_kg=described.mass,
        is_novel=described.is_novel,
    )


def _extents(described: ObjectDescription) -> list[float]:
    """Full extents x, y, z [m] from the half sizes of the shape."""
    half = described.size
    if described.shape == "cylinder":
        half = (half[0], half[0], half[1])
    elif described.shape == "ball":
        half = half * 3
    return [round(2 * length, 6) for length in half]


def world_launch(*, actor: User | None, cell: Cell, source: str, name: str, seed: int = 0) -> Run:
    """Queue the run that makes the world: ``source`` is measure or nominal."""
    if source == "nominal":
        return world_nominal(actor=actor, cell=cell, name=name)
    return world_measure(actor=actor, cell=cell, name=name, seed=seed)


@transaction.atomic
def world_measure(*, actor: User | None, cell: Cell, name: str = "grounded", seed: int = 0) -> Run:
    """Measure the cell through its drivers; the run stores three calibrations and a new version of the world.

    Raises:
        ValidationError: a cell that no worker can reach.
        ConfigError: an impossible seed.
    """
    check_reachable(cell)
    params = MeasureWorldParams(cell=cell.pk, name=name, seed=seed)
    return run_create(
        kind="cells.measure", params=asdict(params), title=f"Measure {cell} for world {name}", created_by=actor
    )


@transaction.atomic
def world_nominal(*, actor: User | None, cell: Cell, name: str = "nominal") -> Run:
    """Queue the run that writes the cell's description down as a world."""
    check_reachable(cell)
    params = NominalWorldParams(cell=cell.pk, name=name)
    return run_create(
        kind="cells.nominal", params=asdict(params), title=f"Nominal world {name} of {cell}", created_by=actor
    )


def check_reachable(cell: Cell) -> None:
    """Only bench cells can be driven from a worker; a real one is driven from the PC beside it."""
    if cell.bench_seed is None:
        raise ValidationError(
            {"cell": f"{cell} is no bench cell: record and measure it from the PC beside it, then import."}
        )


@transaction.atomic
def world_store(
    *, run: Run, cell: Cell, name: str, parameters: dict[str, Any], residuals: dict[str, Any], method: str = ""
) -> World:
    """A new version of the world, each grounded part with the calibration that measured it."""
    calibrations = {
        f"{part}_calibration": Calibration.objects.create(
            cell=cell,
            part=part,
            method=method,
            parameters=parameters[part],
            residuals=residuals.get(part, {}),
            run=run,
            created_by=run.created_by,
        )
        for part in PARTS
        if parameters[part].get("grounded")
    }
    cell = Cell.objects.select_for_update().get(pk=cell.pk)
    last = cell.worlds.filter(name=name).aggregate(last=Max("version"))["last"] or 0
    return World.objects.create(
        cell=cell,
        name=name,
        version=last + 1,
        parameters=parameters,
        sha256=parameters_sha256(parameters),
        created_by=run.created_by,
        **calibrations,
    )


def parameters_sha256(parameters: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(parameters, sort_keys=True).encode()).hexdigest()
