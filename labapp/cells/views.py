"""Pages of cells, worlds and calibrations."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from labapp.accounts.models import Role
from labapp.accounts.roles import RESEARCH, role_required
from labapp.cells import selectors, services
from labapp.cells.forms import CompareForm, WorldForm
from labapp.cells.models import Calibration, Cell, World
from labapp.forms import submitted
from labapp.lineage import lineage_of


@require_safe
@role_required(*RESEARCH)
def worlds(request: HttpRequest) -> HttpResponse:
    context = {"worlds": selectors.worlds(), "cells": selectors.cells()}
    return render(request, "cells/worlds.html", context)


@require_safe
@role_required(*RESEARCH)
def world(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(selectors.worlds(), pk=pk)
    others = World.objects.filter(cell=found.cell).exclude(pk=pk)
    context = {"world": found, "parts": selectors.world_parts(found), "others": others, "lineage": lineage_of(found)}
    return render(request, "cells/world.html", context)


@role_required(Role.RESEARCHER)
def world_new(request: HttpRequest) -> HttpResponse:
    services.bench_cell_ensure()
    form = WorldForm(request.POST or None)
    run = submitted(form, lambda values: services.world_launch(actor=request.user, **values))
    if run:
        messages.success(request, "The world is being made; it appears here when the run is done.")
        return redirect(run)
    return render(request, "cells/new.html", {"form": form})


@require_safe
@role_required(*RESEARCH)
def compare(request: HttpRequest) -> HttpResponse:
    """Two worlds side by side; without two, the form that asks for them."""
    form = CompareForm(request.GET or None)
    context = {"form": form}
    if form.is_valid():
        a, b = form.cleaned_data["a"], form.cleaned_data["b"]
        context |= {"a": a, "b": b, "parts": selectors.worlds_compare(a, b)}
    return render(request, "cells/compare.html", context)


@require_safe
@role_required(*RESEARCH)
def calibration(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Calibration.objects.select_related("cell", "run", "created_by"), pk=pk)
    context = {"calibration": found, "lineage": lineage_of(found)}
    return render(request, "cells/calibration.html", context)


@require_safe
@role_required(*RESEARCH)
def cell(request: HttpRequest, slug: str) -> HttpResponse:
    found = get_object_or_404(Cell, slug=slug)
    context = {
        "cell": found,
        "objects": found.cell_objects.all(),
        "agents": found.agents.all(),
        "worlds": selectors.worlds().filter(cell=found),
        "calibrations": found.calibrations.select_related("run"),
    }
    return render(request, "cells/cell.html", context)
