"""Pages of runs: the list, one run live, and its two buttons."""

import json

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from labapp.accounts.models import Role
from labapp.accounts.roles import RESEARCH, role_required
from labapp.runs.filters import RunFilter
from labapp.runs.kinds import kind_labels
from labapp.runs.models import Run
from labapp.runs.selectors import log_tail, run_snapshot, runs_for_list
from labapp.runs.services import RunStateError, run_cancel, run_retry, runs_mark_lost

PER_PAGE = 25


@require_safe
@role_required(*RESEARCH)
def run_list(request: HttpRequest) -> HttpResponse:
    """Filtered and sorted; htmx gets the table alone."""
    runs_mark_lost(now=timezone.now())
    found = RunFilter(request.GET, queryset=runs_for_list())
    page = Paginator(found.qs, PER_PAGE).get_page(request.GET.get("page"))
    query = request.GET.copy()
    query.pop("page", None)
    context = {
        "filter": found,
        "page": page,
        "labels": kind_labels(),
        "query": query.urlencode(),
        "has_active": any(run.is_active for run in page),
    }
    return render(request, "runs/_table.html" if request.htmx else "runs/list.html", context)


@require_safe
@role_required(*RESEARCH)
def run_detail(request: HttpRequest, pk: int) -> HttpResponse:
    runs_mark_lost(now=timezone.now())
    run = get_object_or_404(runs_for_list(), pk=pk)
    context = {
        "run": run,
        "label": kind_labels().get(run.kind, run.kind),
        "params": json.dumps(run.params, indent=2, ensure_ascii=False),
        "result": json.dumps(run.result, indent=2, ensure_ascii=False) if run.result else "",
        "events": log_tail(run),
        "artifacts": run.artifacts.all(),
        "snapshot": run_snapshot(run.pk),
    }
    return render(request, "runs/detail.html", context)


@require_POST
@role_required(Role.RESEARCHER)
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    run = get_object_or_404(Run, pk=pk)
    try:
        run_cancel(run_id=run.pk, by=request.user, now=timezone.now())
        messages.success(request, f"{run.title}: cancelled.")
    except RunStateError as error:
        messages.error(request, str(error))
    return redirect(run)


@require_POST
@role_required(Role.RESEARCHER)
def retry(request: HttpRequest, pk: int) -> HttpResponse:
    run = get_object_or_404(Run, pk=pk)
    try:
        run_retry(run_id=run.pk, by=request.user)
        messages.success(request, f"{run.title}: queued again; it goes on from its last saved state.")
    except RunStateError as error:
        messages.error(request, str(error))
    return redirect(run)
