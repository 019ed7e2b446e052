"""What the database counts for the results page: two aggregates over the trials, whatever their number."""

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

from django.db.models import CharField, Count, F, Q, QuerySet, Sum, Value
from django.db.models.functions import Cast, Coalesce, Floor, NullIf

from frontend.dashboards.filters import Filters
from labapp.studies.models import Study, Trial

TIME_STEP_S = 0.5
# As an import named them, else as the trial was run here.
OPERATOR = Coalesce(NullIf("operator_label", Value("")), "operator__username")
BLOCK = Coalesce(NullIf("block_label", Value("")), Cast("slot__block", CharField()))


class OutcomeGroup(NamedTuple):
    """Trials that ended alike."""

    arm_id: int
    condition_id: int
    status: str
    is_success: bool | None
    failure_mode: str
    furthest_stage: str
    trials: int


class TimeGroup(NamedTuple):
    """An arm's trials that ended within one step of time; `step` counts TIME_STEP_S, None without a time.

    `versions` adds up how often these trials were changed: of two corrections that leave every count alone (a success
    here for one there) pairs and times may still differ.
    """

    arm_id: int
    step: int | None
    successes: int
    latency_sum_ms: float
    latencies: int
    versions: int


def selected_trials(study: Study, filters: Filters) -> QuerySet[Trial]:
    """The study's trials that the filters leave, of every status."""
    trials = Trial.objects.filter(study=study).order_by()
    if filters.conditions:
        trials = trials.filter(condition__in=list(study.conditions.filter(slug__in=filters.conditions)))
    if filters.arms:
        trials = trials.filter(arm__in=list(study.arms.filter(code__in=filters.arms)))
    if filters.until:
        trials = trials.filter(Q(confirmed_at__lte=filters.until) | Q(confirmed_at=None, started_at__lte=filters.until))
    return trials


def outcome_groups(trials: QuerySet[Trial]) -> list[OutcomeGroup]:
    """Counts by arm, condition and outcome; the index `trial_results` holds all of it.

    Sorted here: an ORDER BY would make the database sort the trials instead of hashing them.
    """
    rows = trials.values_list(*OutcomeGroup._fields[:-1]).annotate(trials=Count("*"))
    return sorted((OutcomeGroup(*row) for row in rows), key=repr)


def time_groups(trials: QuerySet[Trial]) -> list[TimeGroup]:
    """Confirmed trials by arm and step of time, with their inference times."""
    rows = (
        trials.filter(status=Trial.Status.CONFIRMED)
        .annotate(step=Floor(F("duration_s") / TIME_STEP_S))
        .values_list("arm_id", "step")
        .annotate(
            successes=Count("is_success", filter=Q(is_success=True)),
            latency=Sum("latency_ms"),
            latencies=Count("latency_ms"),
            versions=Sum("version"),
        )
    )
    return [
        TimeGroup(arm, None if step is None else int(step), k, ms or 0.0, *more) for arm, step, k, ms, *more in rows
    ]


def time_facts(groups: Iterable[TimeGroup]) -> list[tuple]:
    """What a version is taken of: whole numbers, for sums of fractions differ with the order of adding."""
    return [(g.arm_id, g.step, g.successes, g.latencies, g.versions) for g in groups]


def version_of(facts: Iterable[tuple]) -> str:
    """Short hash of counts and what else the numbers follow from: the same version, the same numbers on the page."""
    return hashlib.sha256(repr(sorted(facts, key=repr)).encode()).hexdigest()[:8]
