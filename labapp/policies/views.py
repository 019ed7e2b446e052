"""Pages of policies. No operator sees them: names, sizes and dates would tell what a code hides."""

from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from labapp.accounts.models import Role
from labapp.accounts.roles import RESEARCH, role_required
from labapp.forms import submitted
from labapp.lineage import lineage_of
from labapp.policies import selectors, services
from labapp.policies.forms import TrainForm
from labapp.policies.models import Policy
from labapp.removal import removed
from labapp.waiting import refresh_when_made


@require_safe
@role_required(*RESEARCH)
def policy_list(request: HttpRequest) -> HttpResponse:
    return render(request, "policies/list.html", {"policies": selectors.policies()})


@require_safe
@role_required(*RESEARCH)
def policy(request: HttpRequest, name: str) -> HttpResponse:
    found = get_object_or_404(selectors.policies(), name=name)
    if refresh := refresh_when_made(request, found):
        return refresh
    context = {
        "policy": found,
        "mixture": selectors.mixture_of(found),
        "checkpoints": found.checkpoints.all(),
        "curves": selectors.curves_of(found),
        "lineage": lineage_of(found),
        "trial_count": found.arms.aggregate(count=Count("trials"))["count"],
    }
    return render(request, "policies/policy.html", context)


@role_required(Role.RESEARCHER)
def policy_new(request: HttpRequest) -> HttpResponse:
    """The address may name a source to start with: ``?set=…`` or ``?dataset=…``."""
    start = next((f"{kind}-{request.GET[kind]}" for kind in ("set", "dataset") if kind in request.GET), "")
    form = TrainForm(request.POST or None, start_with=start)
    made = submitted(form, lambda values: services.policy_train(actor=request.user, **values))
    if made:
        messages.success(request, f"{made} is being trained.")
        return redirect(made)
    return render(request, "policies/new.html", {"form": form})


@require_POST
@role_required(Role.RESEARCHER)
def remove(request: HttpRequest, name: str) -> HttpResponse:
    found = get_object_or_404(Policy, name=name)
    return removed(request, found, "policies:list", found.checkpoints.all())
