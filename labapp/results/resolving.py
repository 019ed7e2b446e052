"""N more trials to resolve this, for every effect and pair of the results page that is not shown yet."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from frontend.dashboards.content import ComparisonLine, EffectLine, PairedLine
from labapp.results.reading import Reading, summary_groups
from labapp.statistics.counts import alpha_of
from labapp.statistics.resolving import more_for_interval, more_sentence, more_words
from labapp.statistics.wording import detectable_effect
from labapp.studies.arms import Arm
from labapp.studies.factors import Design

SHOWN = "shown"


def pairs_to_resolve(lines: Sequence[ComparisonLine], reading: Reading) -> tuple[ComparisonLine, ...]:
    """The pairs with the trials per arm that they lack, and the difference that there are enough for already.

    Both at the level that Holm asks of the first, with 80 % power.
    """
    pairs = sum(line.points is not None for line in lines)

    def told(line: ComparisonLine, arms: tuple[Arm, Arm]) -> ComparisonLine:
        if line.points is None or line.low is None or line.high is None or line.adjusted_p is None:
            return line
        if line.adjusted_p < reading.alpha:
            return replace(line, more=SHOWN)
        fewest = min(reading.count([arm]).trials for arm in arms)
        more = more_for_interval(line.points, line.low, line.high, fewest, reading.confidence, pairs)
        found = detectable_effect(line.low, line.high, reading.confidence, comparisons=pairs)
        return replace(line, more=f"{more_words(more)}; now {found:.0f} points would be found")

    return tuple(told(line, arms) for line, arms in zip(lines, combinations(reading.arms, 2), strict=True))


def effects_to_resolve(lines: Sequence[EffectLine], design: Design, reading: Reading) -> tuple[EffectLine, ...]:
    """The effects, each that is not shown with the trials per arm that it lacks."""
    groups = {group.label: group for group in summary_groups(reading.conditions)}

    def told(line: EffectLine) -> EffectLine:
        point = line.point
        if line.p < reading.alpha or not design.arms:
            return line
        trials = round(reading.count(design.arms, groups[point.group]).trials / len(design.arms))
        more = more_for_interval(point.points, point.low, point.high, trials, reading.confidence)
        return replace(line, sentence=f"{line.sentence} {more_sentence(more)}")

    return tuple(told(line) for line in lines)


def paired_to_resolve(lines: Sequence[PairedLine], confidence: float) -> tuple[PairedLine, ...]:
    """Arms compared in pairs, each that is not shown with the pairs that it lacks."""

    def told(line: PairedLine) -> PairedLine:
        if line.p < alpha_of(confidence):
            return line
        more = more_for_interval(line.points, line.low, line.high, line.pairs, confidence)
        return replace(line, sentence=f"{line.sentence} {more_sentence(more, 'difference', 'pairs')}")

    return tuple(told(line) for line in lines)
