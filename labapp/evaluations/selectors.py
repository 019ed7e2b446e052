"""Reading evaluations: who is called what, and how often each policy succeeded where."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q, QuerySet, Sum
from django.shortcuts import get_object_or_404

from labapp.accounts.models import User
from labapp.accounts.roles import RESEARCH, has_role
from labapp.cells.models import Cell, World
from labapp.evaluations.models import EvaluatedPolicy, Evaluation, SimulatedRollout
from labapp.statistics.proportions import Rate, rate
from labapp.studies.models import Study
from labapp.studies.selectors import may_see_results, sees_names

REMOVED = "an arm since removed"


@dataclass(frozen=True)
class Row:
    """One policy of an evaluation with its rate under each condition, and over all of them last."""

    policy: EvaluatedPolicy
    name: str
    detail: str
    cells: list[tuple[str, Rate]]


def evaluations() -> QuerySet[Evaluation]:
    return (
        Evaluation.objects.select_related("study", "world__cell", "created_by", "run")
        .annotate(
            policy_count=Count("policies", distinct=True), rollout_count=Count("policies__rollouts", distinct=True)
        )
        .order_by("-created_at", "-id")
    )


def may_see(user: User, evaluation: Evaluation) -> bool:
    """Researchers and PIs; operators only results of studies that are unblinded."""
    if evaluation.study is None:
        return has_role(user, *RESEARCH)
    return may_see_results(user, evaluation.study)


def visible_or_error_page(user: User, pk: int) -> Evaluation:
    """The evaluation of an address.

    Raises:
        Http404: there is none.
        PermissionDenied: results of its study are not open to this person.
    """
    found = get_object_or_404(evaluations(), pk=pk)
    if not may_see(user, found):
        raise PermissionDenied(
            "Results of a blinded study open to operators once the PI unblinds it."
            if found.study
            else "Evaluations outside of studies are for researchers and PIs."
        )
    return found


def shows_names(user: User, evaluation: Evaluation) -> bool:
    """Of a blinded study the arms keep their codes, here as on its results page."""
    return evaluation.study is None or sees_names(user, evaluation.study)


def latest_of(study: Study, until: datetime | None = None) -> Evaluation | None:
    """The newest evaluation of a study that was finished, by a moment if one is given."""
    finished = study.evaluations.filter(ready_at__isnull=False)
    if until is not None:
        finished = finished.filter(ready_at__lte=until)
    return finished.select_related("world", "study").first()


def under_way(study: Study) -> Evaluation | None:
    """The newest evaluation of a study that is still being made."""
    newest = study.evaluations.filter(ready_at=None).select_related("run").first()
    return newest if newest and newest.run and newest.run.is_active else None


def world_default(cell: Cell | None) -> World | None:
    """The newest world of the cell whose parts are all measured, else its newest at all.

    One world for every arm: then arms differ by policy alone, and the measured world is the best model of the cell.
    """
    worlds = World.objects.filter(cell=cell) if cell else World.objects.all()
    calibrated = Q(visual_calibration=None) | Q(layout_calibration=None) | Q(dynamics_calibration=None)
    newest = worlds.order_by("-created_at")
    return newest.exclude(calibrated).first() or newest.first()


def policies_of(evaluation: Evaluation, with_names: bool) -> list[tuple[EvaluatedPolicy, str, str]]:
    """Each policy with its name and a detail; codes alone, in their order, where names stay hidden."""
    entries = list(evaluation.policies.select_related("checkpoint__policy", "arm", "evaluation"))
    if evaluation.study is None:
        return [(e, e.checkpoint.policy.name, f"step {e.checkpoint.step}") for e in entries]
    if not with_names:
        return sorted(((e, e.arm.code if e.arm else REMOVED, "") for e in entries), key=lambda named: named[1])
    return [(e, e.arm.label, e.arm.code) if e.arm else (e, e.checkpoint.policy.name, REMOVED) for e in entries]


def table_of(evaluation: Evaluation, with_names: bool, confidence: float = 0.95) -> list[Row]:
    """Rates by policy and condition, one aggregate over the rollouts."""
    slugs = [condition.slug for condition in evaluation.conditions.all()]
    counts = {
        (policy, slug): (k, n)
        for policy, slug, k, n in rollouts_of(evaluation)
        .counted()
        .order_by()
        .values("policy_id", "condition__slug")
        .tallies()
        .values_list("policy_id", "condition__slug", "k", "n")
    }
    return [
        Row(policy, name, detail, _cells([counts.get((policy.pk, slug), (0, 0)) for slug in slugs], slugs, confidence))
        for policy, name, detail in policies_of(evaluation, with_names)
    ]


def rollouts_of(evaluation: Evaluation) -> QuerySet[SimulatedRollout]:
    return SimulatedRollout.objects.filter(policy__evaluation=evaluation)


@dataclass(frozen=True)
class Recorded:
    """How many rollouts can be watched, and what their episodes take."""

    rollouts: int
    size_bytes: int


def recorded(evaluation: Evaluation) -> Recorded:
    count = rollouts_of(evaluation).filter(episode__isnull=False, folder__isnull=False).count()
    return Recorded(count, evaluation.folders.aggregate(total=Sum("size_bytes"))["total"] or 0)


def _cells(counts: Sequence[tuple[int, int]], slugs: Sequence[str], confidence: float) -> list[tuple[str, Rate]]:
    total = (sum(k for k, _ in counts), sum(n for _, n in counts))
    cells = [(slug, rate(k, n, confidence)) for slug, (k, n) in zip(slugs, counts, strict=True)]
    return [*cells, ("", rate(*total, confidence))]
