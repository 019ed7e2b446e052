"""The live page: a cell as its cameras see it now."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone

from labapp.accounts.roles import EVERYONE, role_required
from labapp.cells.agents import agent_for
from labapp.cells.cameras import camera_views
from labapp.cells.models import Cell
from labapp.studies.models import Study
from robots.cell.bench import BENCH_CELL


@role_required(*EVERYONE)
def live(request: HttpRequest, slug: str = "") -> HttpResponse:
    """One cell large; the others are a click away. Without a name, the first cell with an agent."""
    cells = list(Cell.objects.order_by("name"))
    now = timezone.now()
    connected = {cell.pk for cell in cells if agent_for(cell, now)}
    cell = get_object_or_404(Cell, slug=slug) if slug else first_cell(cells, connected)
    context = {
        "cells": cells,
        "connected": connected,
        "cell": cell,
        "views": camera_views(),
        "studies": Study.objects.filter(cell=cell, status=Study.Status.LOCKED) if cell else [],
        "joint_names": joint_names(cell),
    }
    return render(request, "live/live.html", context)


def first_cell(cells: list[Cell], connected: set[int]) -> Cell | None:
    return next((cell for cell in cells if cell.pk in connected), cells[0] if cells else None)


def joint_names(cell: Cell | None) -> list[str]:
    """Joint names of a cell built as the bench is; none for another one: the page numbers them."""
    return list(BENCH_CELL.joint_names) if cell is not None and cell.embodiment == BENCH_CELL.name else []
