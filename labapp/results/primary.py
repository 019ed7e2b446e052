"""The primary comparisons of a plan that looks once, judged as it declared: its test, its level, its adjustment."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from frontend.dashboards.content import DeclaredLine
from frontend.dashboards.filters import Filters
from labapp.results.effects import design_table
from labapp.results.paired import PAIRED_TEST, Pattern, block_patterns, pair_counts
from labapp.results.reading import Reading, Tally
from labapp.results.tallies import outcome_groups, selected_trials
from labapp.statistics.contrasts import Contrast
from labapp.statistics.differences import Difference, difference
from labapp.statistics.factorial import factorial
from labapp.statistics.multiplicity import holm
from labapp.statistics.paired import Paired, paired
from labapp.statistics.wording import capitalised, detectable_effect, level, p_value, percent, points
from labapp.studies.arms import Arm
from labapp.studies.design.plan import EFFECTS, AnalysisPlan
from labapp.studies.factors import Design, effect_labels, find_design
from labapp.studies.models import Study

POWER = 0.8
TITLES = {"mcnemar": "exact McNemar", "boschloo": "Boschloo", "barnard": "Barnard", "fisher": "Fisher"}
EFFECT_TEST = "Welch's t"


class Words(NamedTuple):
    """A comparison in words: what a rise and a fall are called, and what was not shown."""

    rise: str
    fall: str
    nothing: str


class Found(NamedTuple):
    """One primary comparison: estimate and interval as shares, unadjusted p-value; all None where it lacks trials."""

    words: Words
    arms: tuple[Arm, ...]
    test: str
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None


class Data(NamedTuple):
    """What the comparisons rest on: every arm and condition of the study, whatever the page's filters."""

    reading: Reading
    patterns: Callable[[], list[tuple[Pattern, int]]]


def primary_lines(
    study: Study, plan: AnalysisPlan | None, filters: Filters, reading: Reading
) -> tuple[DeclaredLine, ...]:
    """One line per primary comparison; none for a plan that looks more than once: its card of looks judges them.

    Args:
        reading: of all arms and conditions, as far as the page counted them; counted anew where its filters leave
            something out.
    """
    if plan is None or plan.stopping != "fixed" or not plan.primary:
        return ()
    trials = selected_trials(study, Filters(until=filters.until))
    if filters.conditions or filters.arms:
        reading = replace(reading, tally=Tally(outcome_groups(trials)))
    data = Data(reading, lambda: block_patterns(trials))
    found = [one for key in plan.primary if (one := _find(key, plan, data)) is not None]
    return tuple(
        DeclaredLine(_sentence(one, p, plan), reading.href(one.arms))
        for one, p in zip(found, _adjusted(found, plan), strict=True)
    )


def _adjusted(found: Sequence[Found], plan: AnalysisPlan) -> list[float | None]:
    """p-values as the plan adjusts them; a comparison that lacks trials keeps its place in the family."""
    if plan.adjustment != "holm":
        return [one.p for one in found]
    adjusted = holm([1.0 if one.p is None else one.p for one in found])
    return [None if one.p is None else p for one, p in zip(found, adjusted, strict=True)]


def _find(key: str, plan: AnalysisPlan, data: Data) -> Found | None:
    return _effect(key, plan, data) if key in EFFECTS else _pair(key, plan, data)


def _effect(key: str, plan: AnalysisPlan, data: Data) -> Found | None:
    design = find_design(data.reading.arms)
    if design is None:
        return None
    table = design_table(design, data.reading.tally, data.reading.conditions)
    tried = {slug: cells for slug, cells in table.items() if any(cell.trials for cell in cells)}
    effect = factorial(tried, 1 - plan.strictest_alpha).effects[key]
    empty = Found(_effect_words(key, design), tuple(design.arms), EFFECT_TEST)
    return empty if effect is None else _filled(empty, effect)


def _effect_words(key: str, design: Design) -> Words:
    label, (a, b) = effect_labels(design)[key], design.names
    if key != "interaction":
        return Words(f"{label} raised success", f"{label} lowered success", f"No effect of {label} shown")
    start = f"{a} and {b} interact: together their effects are"
    return Words(f"{start} larger than apart", f"{start} smaller than apart", f"No interaction of {a} and {b} shown")


def _pair(key: str, plan: AnalysisPlan, data: Data) -> Found | None:
    by_code = {arm.code: arm for arm in data.reading.arms}
    codes = key.split(":")
    if not set(codes) <= set(by_code):
        return None
    first, second = (by_code[code] for code in codes)
    words = Words(
        f"{first.name} succeeded more often than {second.name}",
        f"{first.name} succeeded less often than {second.name}",
        f"No difference between {first.name} and {second.name} shown",
    )
    found = _compared(first, second, plan, data)
    empty = Found(words, (first, second), TITLES[plan.test])
    return empty if found is None or found.estimate is None else _filled(empty, found)


def _compared(first: Arm, second: Arm, plan: AnalysisPlan, data: Data) -> Difference | Paired | None:
    """By the plan's test, at the level of its first comparison."""
    confidence = 1 - plan.strictest_alpha
    if plan.test == PAIRED_TEST:
        n10, n01, pairs = pair_counts(data.patterns(), first.id, second.id)
        return paired(n10, n01, pairs, confidence) if pairs else None
    counts = *data.reading.count([first]), *data.reading.count([second])
    return difference(*counts, confidence, plan.test)


def _filled(empty: Found, found: Contrast | Difference | Paired) -> Found:
    return empty._replace(estimate=found.estimate, low=found.low, high=found.high, p=found.p)


def _sentence(found: Found, adjusted: float | None, plan: AnalysisPlan) -> str:
    """The verdict is that of the adjusted p-value; the interval has the level of the first of the comparisons."""
    words, confidence = found.words, 1 - plan.strictest_alpha
    if found.estimate is None or found.low is None or found.high is None or found.p is None or adjusted is None:
        return f"{capitalised(words.nothing)}: it cannot be judged, for there are no trials to compare."
    interval = f"{level(round(confidence, 4))} interval {points(found.low)} to {points(found.high)}"
    family = f", adjusted {p_value(adjusted)}" if plan.adjustment == "holm" else ""
    facts = f"{interval}, {found.test} {p_value(found.p)}{family}"
    if adjusted < plan.alpha:
        start = words.rise if found.estimate > 0 else words.fall
        return f"{capitalised(start)}: {points(found.estimate)} points ({facts})."
    detectable = detectable_effect(found.low, found.high, confidence)
    return (
        f"{capitalised(words.nothing)}: {points(found.estimate)} points ({facts}). This many trials find "
        f"{100 * detectable:.0f} points with {percent(POWER)} power."
    )
