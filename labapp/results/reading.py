"""What a page counts: the arms and conditions that it shows, their trials, and the way to them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from labapp.results.links import TrialLinks
from labapp.results.tallies import OutcomeGroup
from labapp.statistics.counts import Count, alpha_of
from labapp.statistics.proportions import Rate, rate
from labapp.studies.arms import Arm
from labapp.studies.models import Condition, Trial


@dataclass(frozen=True)
class ConditionGroup:
    """A set of conditions that the page counts together: one condition, or all shifted ones."""

    label: str
    condition_ids: frozenset[int]
    slugs: tuple[str, ...]

    @classmethod
    def of(cls, label: str, conditions: Sequence[Condition]) -> "ConditionGroup":
        return cls(label, frozenset(c.pk for c in conditions), tuple(c.slug for c in conditions))


class Tally:
    """Confirmed trials by arm and condition, added up as asked."""

    def __init__(self, groups: Iterable[OutcomeGroup]) -> None:
        self.groups = [group for group in groups if group.status == Trial.Status.CONFIRMED]
        self._counts: dict[tuple[int, int], Count] = defaultdict(lambda: Count(0, 0))
        for group in self.groups:
            added = Count(group.trials if group.is_success else 0, group.trials)
            self._counts[group.arm_id, group.condition_id] += added

    def count(self, arm_ids: Iterable[int], condition_ids: Iterable[int]) -> Count:
        """Successes and trials of these arms under these conditions."""
        conditions = list(condition_ids)
        pairs = ((arm_id, condition_id) for arm_id in arm_ids for condition_id in conditions)
        return sum((self._counts.get(pair, Count(0, 0)) for pair in pairs), Count(0, 0))

    def trials(self, arm_id: int) -> int:
        """Confirmed trials of an arm."""
        return sum(count.trials for (arm, _), count in self._counts.items() if arm == arm_id)


@dataclass(frozen=True)
class Reading:
    """Arms and conditions in the order of the page, their trials, the level of its intervals, and its links."""

    arms: tuple[Arm, ...]
    conditions: tuple[Condition, ...]
    tally: Tally
    confidence: float
    links: TrialLinks

    @property
    def alpha(self) -> float:
        """Level of the page's tests."""
        return alpha_of(self.confidence)

    @property
    def whole(self) -> ConditionGroup:
        """All conditions together."""
        return ConditionGroup.of("all", self.conditions)

    def count(self, arms: Sequence[Arm], group: ConditionGroup | None = None) -> Count:
        """Successes and trials of these arms, under all conditions or those of a group."""
        return self.tally.count([arm.id for arm in arms], (group or self.whole).condition_ids)

    def rate(self, arms: Sequence[Arm], group: ConditionGroup | None = None) -> Rate:
        """Their rate with its interval."""
        return rate(*self.count(arms, group), self.confidence)

    def href(self, arms: Sequence[Arm], group: ConditionGroup | None = None, **more: str) -> str:
        """Address of their trials, further filters by name."""
        return self.links.to(arms, (group or self.whole).slugs, **more)

    def within(self, group: ConditionGroup) -> list[Condition]:
        """Conditions of a group."""
        return [c for c in self.conditions if c.pk in group.condition_ids]


def summary_groups(conditions: Sequence[Condition]) -> list[ConditionGroup]:
    """All, nominal and shifted, as far as they differ."""
    nominal = [c for c in conditions if not c.is_shifted]
    shifted = [c for c in conditions if c.is_shifted]
    parts = [("nominal", nominal), ("shifted", shifted)] if nominal and shifted else []
    return [ConditionGroup.of(label, group) for label, group in [("all", conditions), *parts]]


def table_groups(conditions: Sequence[Condition]) -> list[ConditionGroup]:
    """Columns of the success table: every condition, then all shifted ones together, then all."""
    groups = [ConditionGroup.of(c.label, [c]) for c in conditions]
    if len(groups) < 2:
        return groups
    shifted = [c for c in conditions if c.is_shifted]
    if 1 < len(shifted) < len(conditions):
        groups.append(ConditionGroup.of("All shifted", shifted))
    return [*groups, ConditionGroup.of("All", conditions)]
