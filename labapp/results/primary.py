"""The primary comparisons of a plan that looks once, judged as it declared: its test, its level, its adjustment."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from frontend.dashboards.content import DeclaredLine
from frontend.dashboards.filters import Filters
from labapp.results.analysis import Tally
from labapp.results.effects import design_table
from labapp.results.links import TrialLinks
from labapp.results.paired import PAIRED_TEST, Pattern, block_patterns, pair_counts
from labapp.results.tallies import outcome_groups, selected_trials
from labapp.statistics.differences import difference
from labapp.statistics.factorial import factorial
from labapp.statistics.multiplicity import holm
from labapp.statistics.paired import paired
from labapp.statistics.wording import capitalised, detectable_effect, level, p_value, percent, points
from labapp.studies.arms import Arm
from labapp.studies.design.plan import EFFECTS, AnalysisPlan
from labapp.studies.factors import effect_labels, find_design
from labapp.studies.models import Condition, Study

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

    arms: Sequence[Arm]
    conditions: Sequence[Condition]
    tally: Tally
    patterns: Callable[[], list[tuple[Pattern, int]]]


def primary_lines(
    study: Study,
    plan: AnalysisPlan | None,
    arms: Sequence[Arm],
    conditions: Sequence[Condition],
    filters: Filters,
    shown: Tally,
) -> tuple[DeclaredLine, ...]:
    """One line per primary comparison; none for a plan that looks more than once: its card of looks judges them.

    Args:
        arms, conditions: all of the study's.
        shown: what the page counted under its filters; counted anew where these leave something out.
    """
    if plan is None or plan.stopping != "fixed" or not plan.primary:
        return ()
    trials = selected_trials(study, Filters(until=filters.until))
    tally = Tally(outcome_groups(trials)) if filters.conditions or filters.arms else shown
    data = Data(arms, conditions, tally, lambda: block_patterns(trials))
    found = [one for key in plan.primary if (one := _find(key, plan, data)) is not None]
    links, slugs = TrialLinks.of(study, filters.until), [c.slug for c in conditions]
    return tuple(
        DeclaredLine(_sentence(one, p, plan), links.to(one.arms, slugs))
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
    design = find_design(data.arms)
    if design is None:
        return None
    label = effect_labels(design)[key]
    words = Words(f"{label} raised success", f"{label} lowered success", f"No effect of {label} shown")
    if key == "interaction":
        a, b = design.names
        start = f"{a} and {b} interact: together their effects are"
        words = Words(
            f"{start} larger than apart", f"{start} smaller than apart", f"No interaction of {a} and {b} shown"
        )
    empty = Found(words, tuple(arm for cell in design.cells for arm in cell), EFFECT_TEST)
    table = {
        slug: cells
        for slug, cells in design_table(design, data.tally, data.conditions).items()
        if any(cell.trials for cell in cells)
    }
    effect = factorial(table, 1 - plan.strictest_alpha).effects[key]
    return (
        empty
        if effect is None
        else empty._replace(estimate=effect.estimate, low=effect.low, high=effect.high, p=effect.p)
    )


def _pair(key: str, plan: AnalysisPlan, data: Data) -> Found | None:
    by_code = {arm.code: arm for arm in data.arms}
    codes = key.split(":")
    if not set(codes) <= set(by_code):
        return None
    first, second = (by_code[code] for code in codes)
    words = Words(
        f"{first.name} succeeded more often than {second.name}",
        f"{first.name} succeeded less often than {second.name}",
        f"No difference between {first.name} and {second.name} shown",
    )
    empty, confidence = Found(words, (first, second), TITLES[plan.test]), 1 - plan.strictest_alpha
    if plan.test == PAIRED_TEST:
        n10, n01, pairs = pair_counts(data.patterns(), first.id, second.id)
        found = paired(n10, n01, pairs, confidence) if pairs else None
    else:
        ids = [c.pk for c in data.conditions]
        counts = *data.tally.count([first.id], ids), *data.tally.count([second.id], ids)
        found = difference(*counts, confidence, plan.test)
    if found is None or found.estimate is None:
        return empty
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
