"""What the database counts for the results page: two aggregates over the trials, whatever their number."""

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

from django.db.models import Count, F, Q, QuerySet
from django.db.models.functions import Floor

from frontend.dashboards.filters import Filters
from labapp.studies.models import Study, Trial

TIME_STEP_S = 0.5


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
    """An arm's successes within one step of time; `step` counts TIME_STEP_S."""

    arm_id: int
    step: int
    successes: int


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
    """Counts by arm, condition and outcome; the index `trial_results` holds all of it."""
    fields = OutcomeGroup._fields[:-1]
    rows = trials.values_list(*fields).annotate(trials=Count("*")).order_by(*fields)
    return [OutcomeGroup(*row) for row in rows]


def time_groups(trials: QuerySet[Trial]) -> list[TimeGroup]:
    """Successes by arm and step of time."""
    rows = (
        trials.filter(status=Trial.Status.CONFIRMED, is_success=True, duration_s__isnull=False)
        .annotate(step=Floor(F("duration_s") / TIME_STEP_S))
        .values_list("arm_id", "step")
        .annotate(successes=Count("*"))
        .order_by("arm_id", "step")
    )
    return [TimeGroup(arm_id, int(step), successes) for arm_id, step, successes in rows]


def version_of(groups: Iterable[OutcomeGroup]) -> str:
    """Short hash of the counts: the same version means the same numbers on the page."""
    return hashlib.sha256(repr(sorted(groups, key=repr)).encode()).hexdigest()[:8]
