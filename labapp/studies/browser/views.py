"""Pages of the trial browser: notes and flags of a trial, comparison of two, saved filters, the second screen."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_POST, require_safe

from labapp.accounts.roles import EVERYONE, role_required
from labapp.cells.cameras import camera_views
from labapp.forms import submitted
from labapp.studies.browser import remarks as services
from labapp.studies.browser.comparison import comparison, partners
from labapp.studies.browser.forms import EditForm, RemarkForm, SaveFilterForm, remark_form
from labapp.studies.browser.models import TrialFlag, TrialNote
from labapp.studies.browser.saved import filter_delete, filter_save
from labapp.studies.console import console_state
from labapp.studies.models import Study, Trial
from labapp.studies.selectors import sees_policies, studies_at_rig

MODELS = {"note": TrialNote, "flag": TrialFlag}


@role_required(*EVERYONE)
def remarks(request: HttpRequest, slug: str, trial_id: UUID) -> HttpResponse:
    """Notes and flags of a trial as a part of its page; POST adds one."""
    trial = trial_or_404(slug, trial_id)
    if request.method != "POST":
        return remarks_part(request, trial, remark_form())
    form = RemarkForm(request.POST)
    made = submitted(form, lambda values: create(request, trial, values))
    return remarks_part(request, trial, remark_form() if made else form)


def create(request: HttpRequest, trial: Trial, values: dict[str, Any]) -> services.Remark:
    model = TrialFlag if values["label"] else TrialNote
    return services.remark_create(model, remark_id=values.pop("id"), trial=trial, author=request.user, **values)


@require_POST
@role_required(*EVERYONE)
def remark(request: HttpRequest, slug: str, trial_id: UUID, kind: str, remark_id: UUID, action: str) -> HttpResponse:
    """Edit, delete or restore one's own remark; the answer offers to undo what was done."""
    trial, model = trial_or_404(slug, trial_id), MODELS[kind]
    found = get_object_or_404(model, pk=remark_id, trial=trial)
    who = {"remark_id": remark_id, "actor": request.user}
    if action == "edit":
        return edited(request, trial, found, who)
    if action == "delete":
        services.remark_delete(model, now=timezone.now(), **who)
        return remarks_part(request, trial, remark_form(), undo={"remark": found, "action": "restore"})
    services.remark_restore(model, **who)
    return remarks_part(request, trial, remark_form())


def edited(request: HttpRequest, trial: Trial, before: services.Remark, who: dict[str, Any]) -> HttpResponse:
    form, now = EditForm(request.POST), timezone.now()
    changed = submitted(form, lambda values: services.remark_edit(type(before), now=now, **who, **values))
    undo = {"remark": before, "action": "edit"} if changed else None
    return remarks_part(request, trial, remark_form(), undo=undo, edit_errors=form.errors)


def remarks_part(
    request: HttpRequest,
    trial: Trial,
    form: RemarkForm,
    *,
    undo: dict[str, Any] | None = None,
    edit_errors: Any = None,
) -> HttpResponse:
    context = remarks_context(trial) | {"remark_form": form, "undo": undo, "edit_errors": edit_errors}
    return render(request, "studies/browser/_remarks.html", context)


def remarks_context(trial: Trial) -> dict[str, Any]:
    """What `_remarks.html` needs; the trial page includes it."""
    return {
        "study": trial.study,
        "trial": trial,
        "remarks": services.remarks_of(trial),
        "labels": TrialFlag.Label.choices,
        "remark_form": remark_form(),
    }


@require_safe
@role_required(*EVERYONE)
def compare(request: HttpRequest, slug: str) -> HttpResponse:
    """Two trials side by side on one playhead, both from their start or from an event that both have."""
    study = get_object_or_404(Study, slug=slug)
    a, b = (chosen(study, request.GET.get(name, "")) for name in ("a", "b"))
    context = {
        "study": study,
        "a": a,
        "b": b,
        "partners": partners(study, a) if a else [],
        "comparison": comparison(a, b) if a and b else None,
        "align": request.GET.get("align", "start"),
        "sees_policies": sees_policies(request.user, study),
    }
    return render(request, "studies/browser/compare.html", context)


def chosen(study: Study, key: str) -> Trial | None:
    """The trial of an address; none without a key, 404 for one that is not of this study."""
    if not key:
        return None
    try:
        return trial_or_404(study.slug, UUID(key))
    except ValueError:
        raise Http404("That is no trial of this study.") from None


@require_POST
@role_required(*EVERYONE)
def filter_new(request: HttpRequest, slug: str) -> HttpResponse:
    """Keep the filter of the trials page under a name."""
    study, form = get_object_or_404(Study, slug=slug), SaveFilterForm(request.POST)
    saved = submitted(form, lambda values: filter_save(study=study, owner=request.user, **values))
    if saved is None:
        messages.error(request, " ".join(text for errors in form.errors.values() for text in errors))
        return redirect(f"{reverse('studies:trials', args=[slug])}?{request.POST.get('query', '')[:2000]}")
    messages.success(request, f"“{saved}” is kept{' and shared with everyone' if saved.is_shared else ' for you'}.")
    return redirect(saved)


@require_POST
@role_required(*EVERYONE)
def filter_forget(request: HttpRequest, slug: str, filter_id: int) -> HttpResponse:
    study = get_object_or_404(Study, slug=slug)
    if not filter_delete(study=study, owner=request.user, filter_id=filter_id):
        raise Http404("You have no such filter.")
    messages.success(request, "The filter is forgotten; the trials are not touched.")
    return redirect("studies:trials", slug)


@require_safe
@ensure_csrf_cookie
@role_required(*EVERYONE)
def screen(request: HttpRequest, slug: str) -> HttpResponse:
    """A second screen at the rig: code, condition, how to reset, timer and cameras, readable from afar."""
    now = timezone.now()
    study = get_object_or_404(studies_at_rig(now), slug=slug)
    context = {"study": study, "state": console_state(study, request.user, now), "views": camera_views()}
    return render(request, "studies/browser/screen.html", context)


def trial_or_404(slug: str, trial_id: UUID) -> Trial:
    rows = Trial.objects.select_related("study__cell", "slot__object", "arm", "condition", "operator")
    return get_object_or_404(rows, pk=trial_id, study__slug=slug)
