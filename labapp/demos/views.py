"""Pages of demonstrations."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from labapp.accounts.models import Role
from labapp.accounts.roles import RESEARCH, role_required
from labapp.cells.services import bench_cell_ensure
from labapp.demos import selectors, services, uploads
from labapp.demos.forms import ImportForm, RecordForm
from labapp.demos.models import Demonstration, DemonstrationSet
from labapp.forms import submitted
from labapp.lineage import lineage_of
from labapp.removal import removed
from labapp.waiting import refresh_when_made

PER_PAGE = 50


@require_safe
@role_required(*RESEARCH)
def set_list(request: HttpRequest) -> HttpResponse:
    return render(request, "demos/list.html", {"sets": selectors.sets()})


@require_safe
@role_required(*RESEARCH)
def set_detail(request: HttpRequest, name: str) -> HttpResponse:
    found = get_object_or_404(selectors.sets(), name=name)
    if refresh := refresh_when_made(request, found):
        return refresh
    page = Paginator(selectors.demonstrations_of(found), PER_PAGE).get_page(request.GET.get("page"))
    context = {"set": found, "page": page, "lineage": lineage_of(found)}
    return render(request, "demos/set.html", context)


@role_required(Role.RESEARCHER)
def record(request: HttpRequest) -> HttpResponse:
    bench_cell_ensure()
    form = RecordForm(request.POST or None)
    made = submitted(form, lambda values: services.demonstrations_record(actor=request.user, **values))
    if made:
        messages.success(request, f"{made} is being recorded.")
        return redirect(made)
    return render(request, "demos/record.html", {"form": form})


@role_required(Role.RESEARCHER)
def import_set(request: HttpRequest) -> HttpResponse:
    """The form keeps its upload when something else is wrong: nobody sends a folder twice."""
    form = ImportForm(request.POST or None, request.FILES or None)
    made = submitted(form, lambda values: _import(request, form, dict(values)))
    if made:
        messages.success(request, f"{made} is being imported; every episode is checked.")
        return redirect(made)
    return render(request, "demos/import.html", {"form": form})


def _import(request: HttpRequest, form: ImportForm, values: dict[str, Any]) -> DemonstrationSet:
    archive = values.pop("files")
    if archive:
        values["upload"] = uploads.archive_put(owner=request.user, file=archive)
    return services.demonstrations_import(actor=request.user, **values)


@require_safe
@role_required(*RESEARCH)
def demonstration(request: HttpRequest, name: str, index: int) -> HttpResponse:
    found = _demonstration(name, index)
    before, after = selectors.neighbours(found)
    context = {
        "demonstration": found,
        "set": found.demonstration_set,
        "videos": selectors.videos_of(found),
        "entry": selectors.entry_of(found),
        "facts": selectors.facts_of(found),
        "before": before,
        "after": after,
    }
    return render(request, "demos/demonstration.html", context)


@require_safe
@role_required(*RESEARCH)
def plots(request: HttpRequest, name: str, index: int) -> JsonResponse:
    found = _demonstration(name, index)
    owner = found.demonstration_set
    return JsonResponse(selectors.series_of(owner.prefix, owner.sha256, selectors.entry_of(found)))


def _demonstration(name: str, index: int) -> Demonstration:
    rows = Demonstration.objects.select_related("demonstration_set__cell", "object")
    return get_object_or_404(rows, demonstration_set__name=name, index=index, demonstration_set__ready_at__isnull=False)


@require_POST
@role_required(Role.RESEARCHER)
def remove(request: HttpRequest, name: str) -> HttpResponse:
    return removed(request, get_object_or_404(DemonstrationSet, name=name), "demos:list")
