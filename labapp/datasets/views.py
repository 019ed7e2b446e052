"""Pages of grounding configurations and simulated datasets."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from labapp.accounts.models import Role
from labapp.accounts.roles import RESEARCH, role_required
from labapp.datasets import selectors, services
from labapp.datasets.forms import GenerateForm
from labapp.datasets.models import SimulatedDataset
from labapp.demos.media import episode_videos
from labapp.demos.selectors import series_of
from labapp.episodes import EpisodeEntry, index_load
from labapp.forms import submitted
from labapp.lineage import lineage_of
from labapp.removal import removed
from labapp.waiting import refresh_when_made

PER_PAGE = 50


@require_safe
@role_required(*RESEARCH)
def dataset_list(request: HttpRequest) -> HttpResponse:
    return render(request, "datasets/list.html", {"datasets": selectors.datasets()})


@require_safe
@role_required(*RESEARCH)
def dataset(request: HttpRequest, name: str) -> HttpResponse:
    found = get_object_or_404(selectors.datasets(), name=name)
    if refresh := refresh_when_made(request, found):
        return refresh
    context = {"dataset": found, "lineage": lineage_of(found)}
    if found.ready_at:
        words = request.GET.get("q", "")
        page = Paginator(selectors.trajectories_of(found, words=words), PER_PAGE).get_page(request.GET.get("page"))
        context |= {"funnel": selectors.funnel_of(found), "yields": selectors.yields_by_object(found)}
        context |= {"page": page, "words": words}
    return render(request, "datasets/dataset.html", context)


@role_required(Role.RESEARCHER)
def dataset_new(request: HttpRequest) -> HttpResponse:
    """The address may name what to start from: ``?world=…&demonstration_set=…``."""
    start = {name: request.GET[name] for name in ("world", "demonstration_set") if name in request.GET}
    form = GenerateForm(request.POST or None, initial=start)
    made = submitted(form, lambda values: services.dataset_generate(actor=request.user, **values))
    if made:
        messages.success(request, f"{made} is being generated.")
        return redirect(made)
    return render(request, "datasets/new.html", {"form": form})


@require_safe
@role_required(*RESEARCH)
def trajectory(request: HttpRequest, name: str, index: int) -> HttpResponse:
    found, entry = _trajectory(name, index)
    numbers = [other.index for other in index_load(found.prefix, found.sha256).episodes]
    place = numbers.index(index)
    context = {
        "dataset": found,
        "entry": entry,
        "facts": selectors.trajectory_facts(entry),
        "videos": episode_videos(found.prefix, found.sha256, entry, set()),
        "fps": index_load(found.prefix, found.sha256).fps,
        "before": numbers[place - 1] if place else None,
        "after": numbers[place + 1] if place + 1 < len(numbers) else None,
    }
    return render(request, "datasets/trajectory.html", context)


@require_safe
@role_required(*RESEARCH)
def plots(request: HttpRequest, name: str, index: int) -> JsonResponse:
    found, entry = _trajectory(name, index)
    return JsonResponse(series_of(found.prefix, found.sha256, entry))


def _trajectory(name: str, index: int) -> tuple[SimulatedDataset, EpisodeEntry]:
    found = get_object_or_404(selectors.datasets(), name=name, ready_at__isnull=False)
    entry = index_load(found.prefix, found.sha256).entry(index)
    if entry is None:
        raise Http404(f"{name} has no trajectory {index}.")
    return found, entry


@require_safe
@role_required(*RESEARCH)
def configuration_list(request: HttpRequest) -> HttpResponse:
    return render(request, "datasets/configurations.html", {"configurations": selectors.configurations()})


@require_safe
@role_required(*RESEARCH)
def configuration(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(selectors.configurations(), pk=pk)
    context = {
        "configuration": found,
        "datasets": selectors.datasets().filter(configuration=found),
        "policies": found.policies.all(),
        "lineage": lineage_of(found),
    }
    return render(request, "datasets/configuration.html", context)


@require_POST
@role_required(Role.RESEARCHER)
def remove(request: HttpRequest, name: str) -> HttpResponse:
    return removed(request, get_object_or_404(SimulatedDataset, name=name), "datasets:list")
