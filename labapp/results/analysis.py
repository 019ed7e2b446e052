"""From counts to what the page shows: rates, comparisons, cautions, stages, failure modes, times."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, combinations

from frontend.dashboards.content import Cell, ComparisonLine, Row
from frontend.figures.data import STAGES, ModeCounts, RatePoint, StageCurve, TimeCurve
from labapp.results.reading import ConditionGroup, Reading, Tally
from labapp.results.tallies import TIME_STEP_S, OutcomeGroup, TimeGroup
from labapp.statistics.cautions import invalid_trials, simpson
from labapp.statistics.counts import Count
from labapp.statistics.multiplicity import Comparison, compare_all, letters_by_rate
from labapp.studies.arms import Arm
from labapp.studies.models import FailureMode, Trial

MODE_LABELS = {**dict(FailureMode.choices), "": "unnamed"}


def table_rows(
    reading: Reading,
    groups: Sequence[ConditionGroup],
    is_simulated: bool,
    letters: Mapping[str, str],
    latencies: Mapping[int, float],
) -> tuple[Row, ...]:
    """The success table; every cell opens its trials."""

    def cell(arm: Arm, group: ConditionGroup) -> Cell:
        return Cell(*reading.rate([arm], group)[:5], reading.href([arm], group))

    return tuple(
        Row(
            arm.name,
            arm.detail,
            is_simulated,
            tuple(cell(arm, group) for group in groups),
            letters.get(arm.code, ""),
            latencies.get(arm.id),
        )
        for arm in reading.arms
    )


def rate_points(reading: Reading, groups: Sequence[ConditionGroup]) -> tuple[RatePoint, ...]:
    """Success of each arm in each group."""
    return tuple(
        RatePoint(arm.name, group.label, *reading.rate([arm], group)[:5], reading.href([arm], group))
        for arm in reading.arms
        for group in groups
    )


def comparisons(reading: Reading) -> tuple[tuple[ComparisonLine, ...], dict[str, str], str]:
    """Every pair of arms over all shown conditions, compact letters by arm code, and the test that was used."""
    by_code = {arm.code: arm for arm in reading.arms}
    counts = {arm.code: reading.count([arm]) for arm in reading.arms}
    found = compare_all(counts, reading.confidence)

    def line(c: Comparison) -> ComparisonLine:
        values = (v and 100 * v for v in (c.difference.estimate, c.difference.low, c.difference.high))
        pair = by_code[c.first], by_code[c.second]
        return ComparisonLine(pair[0].name, pair[1].name, *values, c.adjusted_p, reading.href(pair))

    letters = letters_by_rate(counts, found, reading.alpha)
    tests = {c.difference.test for c in found if c.difference.p is not None}
    return tuple(line(c) for c in found), letters, " and ".join(sorted(tests)).capitalize()


def latencies(groups: Sequence[TimeGroup]) -> dict[int, float]:
    """Mean over an arm's trials of the median inference time, in ms, by arm id."""
    sums: dict[int, list[float]] = defaultdict(lambda: [0.0, 0])
    for group in groups:
        sums[group.arm_id][0] += group.latency_sum_ms
        sums[group.arm_id][1] += group.latencies
    return {arm_id: total / count for arm_id, (total, count) in sums.items() if count}


def cautions(reading: Reading, groups: Sequence[OutcomeGroup]) -> tuple[str, ...]:
    """Simpson reversals between arms and uneven invalid trials, from the counts alone."""
    singles = [ConditionGroup.of(c.label, [c]) for c in reading.conditions]
    found = [
        simpson(a.name, b.name, {g.label: (reading.count([a], g), reading.count([b], g)) for g in singles})
        for a, b in combinations(reading.arms, 2)
    ]
    invalid = {arm.name: _invalid_of_ended(arm, groups) for arm in reading.arms}
    return tuple(caution.message for caution in [*found, invalid_trials(invalid)] if caution)


def _invalid_of_ended(arm: Arm, groups: Sequence[OutcomeGroup]) -> Count:
    """Invalid trials of an arm among those that are scored or invalid."""
    ended = dict.fromkeys((Trial.Status.CONFIRMED, Trial.Status.INVALID), 0)
    for group in groups:
        if group.arm_id == arm.id and group.status in ended:
            ended[group.status] += group.trials
    return Count(ended[Trial.Status.INVALID], sum(ended.values()))


def furthest_stages(arm: Arm, tally: Tally) -> list[int]:
    """Trials of an arm by furthest stage, in the order of STAGES; trials without a stage are left out."""
    counts = dict.fromkeys(STAGES, 0)
    for group in tally.groups:
        if group.arm_id == arm.id and group.furthest_stage:
            counts[group.furthest_stage] += group.trials
    return list(counts.values())


def stage_curves(reading: Reading) -> Iterator[StageCurve]:
    """Share of each arm's trials that reached each stage; trials without a stage are left out."""
    for arm in reading.arms:
        counts = furthest_stages(arm, reading.tally)
        total = sum(counts)
        if total:
            shares = tuple(sum(counts[i:]) / total for i in range(len(STAGES)))
            hrefs = tuple(reading.href([arm], reached=stage) for stage in STAGES)
            yield StageCurve(arm.name, total, shares, hrefs)


def mode_counts(reading: Reading) -> Iterator[ModeCounts]:
    """Failed trials of each arm by mode, in the order of the paper's list; "unnamed" where none was given."""
    for arm in reading.arms:
        modes = dict.fromkeys(MODE_LABELS, 0)
        for group in reading.tally.groups:
            if group.arm_id == arm.id and not group.is_success:
                modes[group.failure_mode] = modes.get(group.failure_mode, 0) + group.trials
        there = {mode: trials for mode, trials in modes.items() if trials}
        hrefs = {_mode_name(mode): reading.href([arm], outcome=mode or "failure") for mode in there}
        named = {_mode_name(mode): trials for mode, trials in there.items()}
        yield ModeCounts(arm.name, reading.tally.trials(arm.id), named, hrefs)


def _mode_name(mode: str) -> str:
    """An imported study may have modes of its own."""
    return MODE_LABELS.get(mode, mode.replace("_", " "))


def time_curves(reading: Reading, groups: Sequence[TimeGroup]) -> Iterator[TimeCurve]:
    """Share of an arm's trials that had succeeded by the end of each step of time."""
    timed = [group for group in groups if group.step is not None and group.successes]
    last = max((group.step for group in timed), default=-1)
    seconds = tuple(TIME_STEP_S * i for i in range(last + 2))
    for arm in reading.arms:
        by_step = {group.step: group.successes for group in timed if group.arm_id == arm.id}
        total = reading.tally.trials(arm.id)
        if total and by_step:
            so_far = accumulate((by_step.get(step, 0) for step in range(last + 1)), initial=0)
            href = reading.href([arm], outcome="success", sort="time")
            yield TimeCurve(arm.name, total, seconds, tuple(successes / total for successes in so_far), href)
