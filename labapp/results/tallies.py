"""What the database counts for the results page: two aggregates over the trials, whatever their number."""

import hashlib
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from django.db.models import CharField, Count, F, Q, QuerySet, Sum, Value
from django.db.models.functions import Cast, Coalesce, Floor, NullIf

from frontend.dashboards.filters import Filters
from labapp.studies.history import as_of
from labapp.studies.models import Study, Trial
from labapp.studies.selectors import UNFINISHED

TIME_STEP_S = 0.5
# As an import named them, else as the trial was run here.
OPERATOR = Coalesce(NullIf("operator_label", Value("")), "operator__username")
BLOCK = Coalesce(NullIf("block_label", Value("")), Cast("slot__block", CharField()))
SUCCEEDED = Q(is_success_then=True)
OUTCOME = ("arm_id", "condition_id", "status_then", "is_success_then", "failure_mode_then", "furthest_stage_then")


class OutcomeGroup(NamedTuple):
    """Trials that ended alike; one that is not scored yet counts as running, proposed or not."""

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
    """The study's trials that the filters leave, of every status; ``_then`` columns are of the page's moment."""
    return as_of(trials_of(study, filters), filters.until)


def trials_of(study: Study, filters: Filters) -> QuerySet[Trial]:
    """The study's trials of the chosen arms and conditions, at any time."""
    trials = Trial.objects.filter(study=study).order_by()
    if filters.conditions:
        trials = trials.filter(condition__in=list(study.conditions.filter(slug__in=filters.conditions)))
    if filters.arms:
        trials = trials.filter(arm__in=list(study.arms.filter(code__in=filters.arms)))
    return trials


def scored(trials: QuerySet[Trial]) -> QuerySet[Trial]:
    """Those that have their outcome."""
    return trials.filter(status_then=Trial.Status.CONFIRMED)


def outcome_groups(trials: QuerySet[Trial]) -> list[OutcomeGroup]:
    """Counts by arm, condition and outcome; the index `trial_results` holds all of it.

    Sorted here: an ORDER BY would make the database sort the trials instead of hashing them.
    """
    counts: Counter[tuple] = Counter()
    for arm, condition, status, *outcome, n in trials.values_list(*OUTCOME).annotate(trials=Count("*")):
        counts[arm, condition, Trial.Status.RUNNING if status in UNFINISHED else status, *outcome] += n
    return sorted((OutcomeGroup(*key, n) for key, n in counts.items()), key=repr)


def time_groups(trials: QuerySet[Trial]) -> list[TimeGroup]:
    """Confirmed trials by arm and step of time, with their inference times."""
    rows = (
        scored(trials)
        .annotate(step=Floor(F("duration_s_then") / TIME_STEP_S))
        .values_list("arm_id", "step")
        .annotate(
            successes=Count("is_success_then", filter=SUCCEEDED),
            latency=Sum("latency_ms_then"),
            latencies=Count("latency_ms_then"),
            versions=Sum("version_then"),
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
