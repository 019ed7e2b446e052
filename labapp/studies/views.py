"""Pages of studies: list, design, lock, unblind, trials, one trial, the operator console."""

from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.staticfiles import finders
from django.core.exceptions import ValidationError
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_POST, require_safe

from labapp.accounts.models import Role
from labapp.accounts.roles import EVERYONE, RESEARCH, has_role, role_required
from labapp.cells.agents import agent_for
from labapp.cells.cameras import camera_views
from labapp.forms import submitted
from labapp.studies import services, trials
from labapp.studies.browser.attributions import trial_attributions
from labapp.studies.browser.neighbours import neighbours
from labapp.studies.browser.timeline import trial_events, visible_events
from labapp.studies.browser.views import remarks_context
from labapp.studies.console import console_choices, console_state
from labapp.studies.dispatch import study_changed
from labapp.studies.forms import PRESETS, OutcomeForm, ReasonForm, StudyForm, version_in
from labapp.studies.models import Study, Trial
from labapp.studies.recording import Recording, RecordingMissing
from labapp.studies.selectors import sees_policies, slots_open, studies_at_rig, studies_counted, study_progress
from labapp.studies.series import trial_series
from labapp.studies.sessions import CHECKLIST

TRIAL_ROWS = ("study", "slot__object", "arm", "condition", "operator")


@require_safe
@role_required(*EVERYONE)
def study_list(request: HttpRequest) -> HttpResponse:
    return render(request, "studies/list.html", {"studies": studies_counted()})


@role_required(Role.RESEARCHER)
def study_new(request: HttpRequest) -> HttpResponse:
    form = StudyForm(request.POST or None)
    study = submitted(form, lambda values: create(request, values))
    if study is not None:
        messages.success(request, "The study is a draft: look at its design, then lock it.")
        return redirect(study)
    return render(request, "studies/new.html", {"form": form})


def create(request: HttpRequest, values: dict[str, Any]) -> Study:
    conditions = PRESETS[values.pop("preset")]
    checkpoints = list(values.pop("checkpoints"))
    return services.study_create(checkpoints=checkpoints, conditions=conditions, actor=request.user, **values)


@require_safe
@role_required(*EVERYONE)
def study(request: HttpRequest, slug: str) -> HttpResponse:
    """The design, how far it is, and what happened to it."""
    found = get_object_or_404(Study.objects.select_related("cell", "unblinded_by", "created_by"), slug=slug)
    is_open = sees_policies(request.user, found)
    context = {
        "study": found,
        "sees_policies": is_open,
        "arms": found.arms.select_related("policy__configuration").annotate(
            confirmed=Count("trials", filter=Q(trials__status=Trial.Status.CONFIRMED))
        ),
        "conditions": found.conditions.annotate(
            confirmed=Count("trials", filter=Q(trials__status=Trial.Status.CONFIRMED))
        ),
        "progress": study_progress(found),
        "next_slots": slots_open(found)[:5] if found.status == Study.Status.LOCKED else [],
        "events": found.events.select_related("actor"),
        "agent": agent_for(found.cell, timezone.now()),
        "can_unblind": has_role(request.user, Role.PI),
        "reason_form": ReasonForm(),
    }
    return render(request, "studies/study.html", context)


@require_POST
@role_required(Role.RESEARCHER)
def lock(request: HttpRequest, slug: str) -> HttpResponse:
    locked = partial(services.study_lock, version=version_in(request.POST.get("version", "")))
    return changed(request, slug, locked, "The design is locked; operators can begin.", reason=False)


@require_POST
@role_required(Role.PI)
def unblind(request: HttpRequest, slug: str) -> HttpResponse:
    return changed(request, slug, services.study_unblind, "The study is unblinded; the event carries your name.")


@require_POST
@role_required(*RESEARCH)
def finish(request: HttpRequest, slug: str) -> HttpResponse:
    return changed(request, slug, services.study_finish, "The study is finished.")


def changed(request: HttpRequest, slug: str, service: Any, done: str, *, reason: bool = True) -> HttpResponse:
    """One change of a study from its page, and back to it with what came of it."""
    found = get_object_or_404(Study.objects.select_related("cell"), slug=slug)
    also = {"reason": request.POST.get("reason", "")} if reason else {}
    try:
        service(study=found, actor=request.user, now=timezone.now(), **also)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        messages.success(request, done)
        study_changed(found)
    return redirect(found)


@require_safe
@role_required(*EVERYONE)
def trial(request: HttpRequest, slug: str, trial_id: UUID) -> HttpResponse:
    """One trial: its cameras on one playhead, joints and actions, and everything that was ever said of it."""
    return trial_page(request, trial_or_404(slug, trial_id), OutcomeForm())


def trial_page(request: HttpRequest, found: Trial, form: OutcomeForm, status: int = 200) -> HttpResponse:
    context = remarks_context(found) | {
        "videos": found.videos.select_related("media"),
        "revisions": found.revisions.select_related("actor"),
        "agent_events": visible_events(found),
        "events": trial_events(found),
        "sees_policies": sees_policies(request.user, found.study),
        "form": form,
        "neighbours": neighbours(found, request.GET.urlencode()),
    }
    return render(request, "studies/trial.html", context, status=status)


@require_POST
@role_required(*EVERYONE)
def trial_correct(request: HttpRequest, slug: str, trial_id: UUID) -> HttpResponse:
    found = trial_or_404(slug, trial_id)
    form = OutcomeForm(request.POST)
    try:
        corrected = submitted(form, lambda values: correct(request, found, form, values["reason"]))
    except trials.TrialConflict as error:
        messages.error(request, str(error))
        return trial_page(request, trial_or_404(slug, trial_id), form, status=409)
    if corrected is None:
        return trial_page(request, found, form, status=422)
    messages.success(request, "The outcome is corrected; the old one stays in the history.")
    study_changed(found.study)
    return redirect(found)


def correct(request: HttpRequest, found: Trial, form: OutcomeForm, reason: str) -> Trial:
    seen = request.POST.get("version", "")
    version = (version_in(seen) or 0) if seen else found.version  # what is no number was never a version: a conflict
    return trials.trial_correct(
        trial=found, outcome=form.outcome(), reason=reason, version=version, actor=request.user, now=timezone.now()
    )


@require_safe
@role_required(*EVERYONE)
def series(request: HttpRequest, slug: str, trial_id: UUID) -> JsonResponse:
    """Joint positions and commands of a trial for its plot, and what they are attributed to where one may know it."""
    found = trial_or_404(slug, trial_id)
    try:
        recording = Recording(found)
    except RecordingMissing as error:
        return JsonResponse({"detail": str(error)}, status=404)
    attributed = trial_attributions(found, recording) if sees_policies(request.user, found.study) else []
    return JsonResponse(trial_series(recording) | {"attributions": attributed})


@require_safe
@never_cache
@ensure_csrf_cookie
@role_required(*EVERYONE)
def console(request: HttpRequest, slug: str) -> HttpResponse:
    """The operator console. Everyone sees only codes here, whatever their role."""
    now = timezone.now()
    found = get_object_or_404(studies_at_rig(now), slug=slug)
    context = {
        "study": found,
        "state": console_state(found, request.user, now),
        "choices": console_choices(),
        "checklist": CHECKLIST,
        "views": camera_views(),
    }
    return render(request, "studies/console.html", context)


@require_safe
@role_required(*EVERYONE)
def console_worker(request: HttpRequest, slug: str) -> HttpResponse:
    """The console's service worker, at the console's own address: a worker answers for no page outside its folder."""
    get_object_or_404(Study, slug=slug)
    script = Path(finders.find("js/console_worker.js")).read_text()
    return HttpResponse(script, content_type="text/javascript; charset=utf-8", headers={"Cache-Control": "no-cache"})


def trial_or_404(slug: str, trial_id: UUID) -> Trial:
    rows = Trial.objects.select_related(*TRIAL_ROWS, "arm__policy", "agent", "study__cell")
    return get_object_or_404(rows, pk=trial_id, study__slug=slug)
