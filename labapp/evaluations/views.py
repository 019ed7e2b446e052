"""Pages of evaluations in simulation. Of a blinded study no operator sees any, and others see codes."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from labapp.accounts.models import Role
from labapp.accounts.roles import EVERYONE, RESEARCH, role_required
from labapp.evaluations import selectors, services
from labapp.evaluations.forms import EvaluateForm
from labapp.evaluations.models import Evaluation
from labapp.forms import submitted
from labapp.lineage import lineage_of
from labapp.studies.models import Study
from labapp.waiting import refresh_when_made


@require_safe
@role_required(*RESEARCH)
def evaluation_list(request: HttpRequest) -> HttpResponse:
    return render(request, "evaluations/list.html", {"evaluations": selectors.evaluations()})


@require_safe
@role_required(*EVERYONE)
def evaluation(request: HttpRequest, pk: int) -> HttpResponse:
    found = selectors.visible_or_error_page(request.user, pk)
    if refresh := refresh_when_made(request, found):
        return refresh
    with_names = selectors.shows_names(request.user, found)
    conditions = list(found.conditions.all())
    context = {
        "evaluation": found,
        "conditions": conditions,
        "rows": selectors.table_of(found, with_names) if found.ready_at else [],
        "policies": selectors.policies_of(found, with_names),
        "rollouts_each": sum(condition.rollouts for condition in conditions),
        "invalid": selectors.rollouts_of(found).exclude(invalid_reason="").count(),
        "rollout_count": selectors.rollouts_of(found).count(),
        "recorded": selectors.recorded(found),
        "lineage": lineage_of(found) if with_names else None,
        "shows_names": with_names,
    }
    return render(request, "evaluations/evaluation.html", context)


@role_required(Role.RESEARCHER)
def evaluation_new(request: HttpRequest) -> HttpResponse:
    """The address may name what to evaluate: ``?study=SLUG`` or ``?checkpoint=ID``."""
    form = EvaluateForm(request.POST or None, initial=_start(request))
    made = submitted(form, lambda values: _launch(request, values))
    if made:
        messages.success(request, "The policies are being rolled out.")
        return redirect(made)
    return render(request, "evaluations/new.html", {"form": form})


@require_POST
@role_required(Role.RESEARCHER)
def remove(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Evaluation, pk=pk)
    try:
        services.evaluation_remove(found)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
        return redirect(found)
    messages.success(request, "The evaluation is removed; its run's log stays.")
    return redirect("evaluations:list")


def _launch(request: HttpRequest, values: dict[str, Any]) -> Evaluation:
    study, checkpoint = values.pop("study"), values.pop("checkpoint")
    if study:
        return services.study_evaluate(actor=request.user, study=study, **values)
    return services.checkpoint_evaluate(actor=request.user, checkpoint=checkpoint, **values)


def _start(request: HttpRequest) -> dict[str, Any]:
    study = Study.objects.filter(slug=request.GET.get("study", "")).select_related("cell").first()
    checkpoint = request.GET.get("checkpoint", "")
    amount = "each" if checkpoint else "run" if study and study.trials.exists() else "planned"
    world = selectors.world_default(study.cell if study else None)
    return {"study": study, "checkpoint": checkpoint, "world": world, "amount": amount}
