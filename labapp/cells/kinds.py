"""Runs that make worlds."""

import json
import sys
from pathlib import Path
from typing import Any

from labapp.cells.flatten import PARTS, named_values
from labapp.cells.models import Cell, World
from labapp.cells.params import MeasureWorldParams, NominalWorldParams
from labapp.cells.services import world_store
from labapp.runs.events import clean_json
from labapp.runs.kinds import RunError, RunKind, out_folder, params_of, register, room_command, row_of
from labapp.runs.models import Run


def cell_of(pk: int) -> Cell:
    return row_of(Cell.objects.all(), pk, "cell")


@register
class MeasureWorld(RunKind):
    """Calibrations of all three parts, measured through the drivers, and the grounded world on top of them."""

    name, label, queue = "cells.measure", "Measure a world", "generation"

    def prepare(self, run: Run, workdir: Path) -> list[str]:
        params = params_of(MeasureWorldParams, run)
        cell = cell_of(params.cell)
        return room_command("generation", "register", workdir, {"bench_seed": cell.bench_seed, "seed": params.seed})

    def finish(self, run: Run, workdir: Path, result: dict[str, Any]) -> dict[str, Any]:
        params = params_of(MeasureWorldParams, run)
        out = out_folder(workdir)
        world = world_store(
            run=run,
            cell=cell_of(params.cell),
            name=params.name,
            parameters=read_world(out),
            residuals=_by_part(clean_json(_read_json(out / "residuals.json"))),
            method="simple registration",
        )
        return world_result(world)


@register
class NominalWorld(RunKind):
    """The world as the cell is described."""

    name, label, queue = "cells.nominal", "Write the nominal world", "generation"

    def prepare(self, run: Run, workdir: Path) -> list[str]:
        params_of(NominalWorldParams, run)
        return [sys.executable, "-m", "generation", "nominal", str(out_folder(workdir)), "--events"]

    def finish(self, run: Run, workdir: Path, result: dict[str, Any]) -> dict[str, Any]:
        params = params_of(NominalWorldParams, run)
        parameters = read_world(out_folder(workdir))
        world = world_store(run=run, cell=cell_of(params.cell), name=params.name, parameters=parameters, residuals={})
        return world_result(world)


def world_result(world: World) -> dict[str, Any]:
    return {"world": str(world), "grounding": world.grounding, "url": world.get_absolute_url()}


def read_world(out: Path) -> dict[str, Any]:
    """The world that the command wrote.

    Raises:
        RunError: no such file, or a part is missing.
    """
    parameters = _read_json(out / "world.json")
    missing = [part for part in PARTS if not isinstance(parameters.get(part), dict)]
    if missing:
        raise RunError(f"world.json has no {', '.join(missing)} part.")
    return parameters


def _read_json(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise RunError(f"The command wrote no readable {path.name}: {error}") from error


def _by_part(residuals: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Residuals by part of the world; those of the cameras are of the visual part."""
    found = {("visual" if name == "cameras" else name): value for name, value in residuals.items()}
    return {part: named_values(found.get(part, {})) for part in PARTS}
