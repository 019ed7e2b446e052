"""From counts to what the page shows: groups of conditions, rates, effects, stages, failure modes, times."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from frontend.dashboards.content import Cell, ComparisonLine, Row
from frontend.figures.data import STAGES, ModeCounts, RatePoint, StageCurve, TimeCurve
from labapp.results.links import TrialLinks
from labapp.results.tallies import TIME_STEP_S, OutcomeGroup, TimeGroup
from labapp.statistics.cautions import invalid_trials, simpson
from labapp.statistics.counts import Count, alpha_of
from labapp.statistics.multiplicity import Comparison, compare_all, letters_by_rate
from labapp.statistics.proportions import rate
from labapp.studies.arms import Arm
from labapp.studies.models import Condition, FailureMode, Trial


@dataclass(frozen=True)
class ConditionGroup:
    """A set of conditions that the page counts together: one condition, or all shifted ones."""

    label: str
    condition_ids: frozenset[int]
    slugs: tuple[str, ...]


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
        total = Count(0, 0)
        for arm_id in arm_ids:
            for condition_id in conditions:
                total += self._counts.get((arm_id, condition_id), Count(0, 0))
        return total

    def trials(self, arm_id: int) -> int:
        """Confirmed trials of an arm."""
        return sum(count.trials for (arm, _), count in self._counts.items() if arm == arm_id)


def summary_groups(conditions: Sequence[Condition]) -> list[ConditionGroup]:
    """All, nominal and shifted, as far as they differ."""
    nominal = [c for c in conditions if not c.is_shifted]
    shifted = [c for c in conditions if c.is_shifted]
    together = _group("all", conditions)
    parts = [_group("nominal", nominal), _group("shifted", shifted)] if nominal and shifted else []
    return [together, *parts]


def table_groups(conditions: Sequence[Condition]) -> list[ConditionGroup]:
    """Columns of the success table: every condition, then all shifted ones together, then all."""
    singles = [_group(c.label, [c]) for c in conditions]
    shifted = [c for c in conditions if c.is_shifted]
    groups = singles + ([_group("All shifted", shifted)] if 1 < len(shifted) < len(conditions) else [])
    return [*groups, _group("All", conditions)] if len(singles) > 1 else groups


def _group(label: str, conditions: Sequence[Condition]) -> ConditionGroup:
    return ConditionGroup(label, frozenset(c.pk for c in conditions), tuple(c.slug for c in conditions))


def table_rows(
    arms: Sequence[Arm],
    groups: Sequence[ConditionGroup],
    tally: Tally,
    confidence: float,
    is_simulated: bool,
    links: TrialLinks,
    letters: Mapping[str, str],
    latencies: Mapping[int, float],
) -> tuple[Row, ...]:
    """The success table; every cell opens its trials."""

    def cell(arm: Arm, group: ConditionGroup) -> Cell:
        result = rate(*tally.count([arm.id], group.condition_ids), confidence)
        return Cell(*result[:5], links.to([arm], group.slugs))

    return tuple(
        Row(
            arm.name,
            arm.detail,
            is_simulated,
            tuple(cell(arm, group) for group in groups),
            letters.get(arm.code, ""),
            latencies.get(arm.id),
        )
        for arm in arms
    )


def rate_points(
    arms: Sequence[Arm], groups: Sequence[ConditionGroup], tally: Tally, confidence: float, links: TrialLinks
) -> tuple[RatePoint, ...]:
    """Success of each arm in each group."""
    points = []
    for arm in arms:
        for group in groups:
            result = rate(*tally.count([arm.id], group.condition_ids), confidence)
            points.append(RatePoint(arm.name, group.label, *result[:5], links.to([arm], group.slugs)))
    return tuple(points)


def comparisons(
    arms: Sequence[Arm], conditions: Sequence[Condition], tally: Tally, confidence: float, links: TrialLinks
) -> tuple[tuple[ComparisonLine, ...], dict[str, str], str]:
    """Every pair of arms over all shown conditions, compact letters by arm code, and the test that was used."""
    condition_ids = [c.pk for c in conditions]
    by_code, slugs = {arm.code: arm for arm in arms}, [c.slug for c in conditions]
    counts = {arm.code: tally.count([arm.id], condition_ids) for arm in arms}
    found = compare_all(counts, confidence)

    def line(c: Comparison) -> ComparisonLine:
        values = (v and 100 * v for v in (c.difference.estimate, c.difference.low, c.difference.high))
        first, second = by_code[c.first], by_code[c.second]
        return ComparisonLine(first.name, second.name, *values, c.adjusted_p, links.to([first, second], slugs))

    letters = letters_by_rate(counts, found, alpha_of(confidence))
    tests = {c.difference.test for c in found if c.difference.p is not None}
    return tuple(line(c) for c in found), letters, " and ".join(sorted(tests)).capitalize()


def latencies(groups: Sequence[TimeGroup]) -> dict[int, float]:
    """Mean over an arm's trials of the median inference time, in ms, by arm id."""
    sums: dict[int, list[float]] = defaultdict(lambda: [0.0, 0])
    for group in groups:
        sums[group.arm_id][0] += group.latency_sum_ms
        sums[group.arm_id][1] += group.latencies
    return {arm_id: total / count for arm_id, (total, count) in sums.items() if count}


def cautions(arms: Sequence[Arm], conditions: Sequence[Condition], groups: Sequence[OutcomeGroup]) -> tuple[str, ...]:
    """Simpson reversals between arms and uneven invalid trials, from the counts alone."""
    tally = Tally(groups)
    found = [
        simpson(
            a.name, b.name, {c.label: (tally.count([a.id], [c.pk]), tally.count([b.id], [c.pk])) for c in conditions}
        )
        for a, b in combinations(arms, 2)
    ]
    ended = [group for group in groups if group.status in (Trial.Status.CONFIRMED, Trial.Status.INVALID)]
    invalid = {
        arm.name: Count(
            sum(g.trials for g in ended if g.arm_id == arm.id and g.status == Trial.Status.INVALID),
            sum(g.trials for g in ended if g.arm_id == arm.id),
        )
        for arm in arms
    }
    return tuple(caution.message for caution in [*found, invalid_trials(invalid)] if caution)


def furthest_stages(arm: Arm, tally: Tally) -> list[int]:
    """Trials of an arm by furthest stage, in the order of STAGES; trials without a stage are left out."""
    counts = dict.fromkeys(STAGES, 0)
    for group in tally.groups:
        if group.arm_id == arm.id and group.furthest_stage:
            counts[group.furthest_stage] += group.trials
    return list(counts.values())


def stage_curves(
    arms: Sequence[Arm], conditions: Sequence[Condition], tally: Tally, links: TrialLinks
) -> tuple[StageCurve, ...]:
    """Share of each arm's trials that reached each stage; trials without a stage are left out."""
    curves, slugs = [], [c.slug for c in conditions]
    for arm in arms:
        counts = furthest_stages(arm, tally)
        total = sum(counts)
        if total:
            shares = tuple(sum(counts[i:]) / total for i in range(len(STAGES)))
            hrefs = tuple(links.to([arm], slugs, reached=stage) for stage in STAGES)
            curves.append(StageCurve(arm.name, total, shares, hrefs))
    return tuple(curves)


def mode_counts(
    arms: Sequence[Arm], conditions: Sequence[Condition], tally: Tally, links: TrialLinks
) -> tuple[ModeCounts, ...]:
    """Failed trials of each arm by mode, in the order of the paper's list; "unnamed" where none was given."""
    labels = {**dict(FailureMode.choices), "": "unnamed"}
    result, slugs = [], [c.slug for c in conditions]

    def name(mode: str) -> str:
        return labels.get(mode, mode.replace("_", " "))

    for arm in arms:
        modes = dict.fromkeys(labels, 0)
        for group in tally.groups:
            if group.arm_id == arm.id and not group.is_success:
                modes[group.failure_mode] = modes.get(group.failure_mode, 0) + group.trials
        named = {name(mode): trials for mode, trials in modes.items() if trials}
        hrefs = {name(mode): links.to([arm], slugs, outcome=mode or "failure") for mode, n in modes.items() if n}
        result.append(ModeCounts(arm.name, tally.trials(arm.id), named, hrefs))
    return tuple(result)


def time_curves(
    arms: Sequence[Arm], conditions: Sequence[Condition], groups: Sequence[TimeGroup], tally: Tally, links: TrialLinks
) -> tuple[TimeCurve, ...]:
    """Share of an arm's trials that had succeeded by the end of each step of time."""
    timed = [group for group in groups if group.step is not None and group.successes]
    last = max((group.step for group in timed), default=-1)
    curves = []
    for arm in arms:
        by_step = {group.step: group.successes for group in timed if group.arm_id == arm.id}
        total = tally.trials(arm.id)
        if total and by_step:
            so_far, share = 0, [0.0]
            for step in range(last + 1):
                so_far += by_step.get(step, 0)
                share.append(so_far / total)
            seconds = tuple(TIME_STEP_S * i for i in range(last + 2))
            href = links.to([arm], [c.slug for c in conditions], outcome="success", sort="time")
            curves.append(TimeCurve(arm.name, total, seconds, tuple(share), href))
    return tuple(curves)
