"""N more trials to resolve this, for every effect and pair of the results page that is not shown yet."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from frontend.dashboards.content import ComparisonLine, EffectLine, PairedLine
from labapp.results.analysis import Tally, summary_groups
from labapp.statistics.counts import alpha_of
from labapp.statistics.resolving import more_for_interval, more_sentence, more_words
from labapp.statistics.wording import detectable_effect
from labapp.studies.arms import Arm
from labapp.studies.factors import Design
from labapp.studies.models import Condition

SHOWN = "shown"


def pairs_to_resolve(
    lines: Sequence[ComparisonLine],
    arms: Sequence[Arm],
    conditions: Sequence[Condition],
    tally: Tally,
    confidence: float,
) -> tuple[ComparisonLine, ...]:
    """The pairs with the trials per arm that they lack, and the difference that there are enough for already.

    Both at the level that Holm asks of the first, with 80 % power.
    """
    ids = [c.pk for c in conditions]
    trials = {arm.id: tally.count([arm.id], ids).trials for arm in arms}
    pairs = sum(line.points is not None for line in lines)
    told = []
    for line, (first, second) in zip(lines, combinations(arms, 2), strict=True):
        if line.points is None or line.low is None or line.high is None or line.adjusted_p is None:
            told.append(line)
        elif line.adjusted_p < alpha_of(confidence):
            told.append(replace(line, more=SHOWN))
        else:
            fewest = min(trials[first.id], trials[second.id])
            more = more_for_interval(line.points, line.low, line.high, fewest, confidence, pairs)
            found = detectable_effect(line.low, line.high, confidence, comparisons=pairs)
            told.append(replace(line, more=f"{more_words(more)}; now {found:.0f} points would be found"))
    return tuple(told)


def effects_to_resolve(
    lines: Sequence[EffectLine], design: Design, conditions: Sequence[Condition], tally: Tally, confidence: float
) -> tuple[EffectLine, ...]:
    """The effects, each that is not shown with the trials per arm that it lacks."""
    ids = {group.label: group.condition_ids for group in summary_groups(conditions)}
    arms = [arm.id for cell in design.cells for arm in cell]

    def told(line: EffectLine) -> EffectLine:
        point = line.point
        if line.p < alpha_of(confidence) or not arms:
            return line
        trials = round(tally.count(arms, ids[point.group]).trials / len(arms))
        more = more_for_interval(point.points, point.low, point.high, trials, confidence)
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
