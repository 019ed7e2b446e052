"""The blocks of a study's schedule: how many there are, and how their trials ended."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from django.db.models import Max, Q, QuerySet
from numpy.typing import NDArray

from frontend.dashboards.filters import Filters
from labapp.results.tallies import scored, selected_trials
from labapp.statistics.looks import finished_blocks
from labapp.studies.arms import Arm
from labapp.studies.models import Study, StudyEvent, Trial


@dataclass(frozen=True)
class Blocks:
    """What the looks rest on.

    Args:
        outcomes: shape (blocks, arms): 1 success, 0 failure, nan without a valid trial.
        finished: blocks, from the first on, in which every arm that is not withdrawn has its valid trial.
    """

    outcomes: NDArray[np.float64]
    finished: int

    @property
    def table(self) -> NDArray[np.float64]:
        return self.outcomes[: self.finished]


def planned_blocks(study: Study, until: datetime | None) -> tuple[int, int]:
    """Blocks of the locked schedule, and with those that amendments added by then; (0, 0) without a schedule."""
    locked = study.events.filter(kind=StudyEvent.Kind.LOCKED).order_by("created_at").first()
    at_lock = Q() if locked is None else Q(position__lte=locked.payload.get("slots", 0))
    slots = study.slots.filter(reschedules=None)
    if until is not None:
        slots = slots.filter(position__lte=_last_position(study, until))
    counts = slots.aggregate(planned=Max("block", filter=at_lock), total=Max("block"))
    return counts["planned"] or 0, counts["total"] or 0


def _last_position(study: Study, until: datetime) -> int:
    """Of the schedule of then: an amendment appends to it."""
    amended = study.events.filter(kind=StudyEvent.Kind.AMENDED).values_list("payload", flat=True)
    later = sum(facts.get("slots", 0) for facts in amended if datetime.fromisoformat(facts["at"]) > until)
    planned = study.slots.filter(reschedules=None).order_by("-position").values_list("position", flat=True)
    return next(iter(planned[later : later + 1]), 0)


def withdrawn(study: Study, until: datetime | None) -> set[int]:
    """Arms that were out of the study at that moment."""
    gone = study.arms.exclude(withdrawn_at=None)
    return set((gone.filter(withdrawn_at__lte=until) if until else gone).values_list("pk", flat=True))


def scheduled(study: Study, until: datetime | None) -> QuerySet[Trial]:
    """Scored trials of the schedule, of all arms and conditions."""
    return scored(selected_trials(study, Filters(until=until))).exclude(slot=None)


def read_blocks(trials: QuerySet[Trial], arms: Sequence[Arm], gone: Iterable[int], total: int) -> Blocks:
    """Outcomes by block and arm, of trials of the schedule."""
    column = {arm.id: index for index, arm in enumerate(arms)}
    outcomes = np.full((total, len(arms)), np.nan)
    planned = trials.filter(slot__block__lte=total)  # a clock set back may score trials before their block was added
    for block, arm_id, is_success in planned.values_list("slot__block", "arm_id", "is_success_then"):
        outcomes[block - 1, column[arm_id]] = is_success
    is_needed = [arm.id not in set(gone) for arm in arms]
    return Blocks(outcomes, finished_blocks(outcomes, is_needed))
