"""Sentences that never claim more than the test behind them.

An interval that contains zero shows no difference; it never shows equality, so the sentence names the effect that this
many trials would have detected. Only an equivalence test with a declared margin may say "equivalent".
"""

from scipy import special

from labapp.statistics.contrasts import Contrast
from labapp.statistics.counts import alpha_of
from labapp.statistics.differences import Difference
from labapp.statistics.proportions import Rate, normal_quantile

POWER = 0.8


def points(share: float) -> str:
    """A difference of shares in signed points: 0.18 -> "+18.0"."""
    text = f"{100 * share:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text.replace("-", "−")


def percent(share: float | None) -> str:
    """A share in per cent: 0.52 -> "52%", None -> "no trials"."""
    return "no trials" if share is None else f"{100 * share:.0f}%"


def p_value(p: float) -> str:
    """A p-value with as many digits as mean something."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"


def detectable_effect(low: float, high: float, confidence: float, power: float = POWER, comparisons: int = 1) -> float:
    """Effect that trials giving this interval detect with the given power: (z_alpha + z_power) standard errors.

    The standard error is read off the interval's width; the effect has the interval's unit.

    Args:
        comparisons: that share the level; the interval itself stands at `confidence` for one.
    """
    shared = normal_quantile(1 - (1 - confidence) / comparisons)
    return (high - low) / 2 * (shared + float(special.ndtri(power))) / normal_quantile(confidence)


def rate_sentence(rate: Rate) -> str:
    """ "26 of 50 succeeded: 52% (95% interval 39% to 65%)"."""
    if rate.rate is None:
        return "No trials, so no rate and no interval."
    exact = ", exact: covers at least as often as it says" if rate.method == "clopper-pearson" else ""
    return (
        f"{rate.successes} of {rate.trials} succeeded: {percent(rate.rate)} "
        f"({level(rate.confidence)} interval {percent(rate.low)} to {percent(rate.high)}, {rate.method}{exact})."
    )


def effect_sentence(name: str, effect: Contrast | None) -> str:
    """What an effect's interval allows to say.

    Args:
        name: the effect in words, like "world grounding".
        effect: its contrast, None where it cannot be estimated.
    """
    if effect is None:
        return f"The effect of {name} cannot be estimated: a cell of the design has no trials."
    interval = f"{level(effect.confidence)} interval {points(effect.low)} to {points(effect.high)}, {p_value(effect.p)}"
    if effect.low > 0 or effect.high < 0:
        verb = "raised" if effect.estimate > 0 else "lowered"
        return f"{capitalised(name)} {verb} success by {abs(100 * effect.estimate):.1f} points ({interval})."
    detectable = detectable_effect(effect.low, effect.high, effect.confidence)
    return (
        f"No effect of {name} shown: {points(effect.estimate)} points ({interval}). "
        f"This many trials find an effect of {100 * detectable:.0f} points with {percent(POWER)} power."
    )


def interaction_sentence(first: str, second: str, effect: Contrast | None) -> str:
    """What the interaction of two factors (difference of differences) allows to say."""
    if effect is None:
        return f"The interaction of {first} and {second} cannot be estimated: a cell of the design has no trials."
    interval = f"{level(effect.confidence)} interval {points(effect.low)} to {points(effect.high)}, {p_value(effect.p)}"
    if effect.low > 0 or effect.high < 0:
        which = "larger" if effect.estimate > 0 else "smaller"
        size = f"{abs(100 * effect.estimate):.1f} points {which}"
        return f"{capitalised(first)} and {second} interact: together their effects are {size} than apart ({interval})."
    detectable = detectable_effect(effect.low, effect.high, effect.confidence)
    return (
        f"No interaction of {first} and {second} shown: {points(effect.estimate)} points ({interval}). "
        f"This many trials find an interaction of {100 * detectable:.0f} points with {percent(POWER)} power."
    )


def difference_sentence(first: str, second: str, difference: Difference) -> str:
    """What the difference of two arms allows to say; the verdict follows the exact test."""
    if difference.estimate is None or difference.low is None or difference.high is None or difference.p is None:
        return f"{capitalised(first)} and {second} cannot be compared: one of them has no trials."
    interval = (
        f"{level(difference.confidence)} interval {points(difference.low)} to {points(difference.high)}, "
        f"{difference.test} {p_value(difference.p)}"
    )
    if difference.p < alpha_of(difference.confidence):
        better, worse = (first, second) if difference.estimate > 0 else (second, first)
        size = f"{abs(100 * difference.estimate):.1f} points"
        return f"{capitalised(better)} succeeded more often than {worse}: {size} ({interval})."
    detectable = detectable_effect(difference.low, difference.high, difference.confidence)
    return (
        f"No difference between {first} and {second} shown: {points(difference.estimate)} points ({interval}). "
        f"This many trials find a difference of {100 * detectable:.0f} points with {percent(POWER)} power."
    )


def compared_sentence(first: str, second: str, found: Difference, adjusted_p: float | None, comparisons: int) -> str:
    """What one of several compared pairs allows to say; the verdict follows the adjusted p-value.

    Args:
        comparisons: that share the level.
    """
    if found.estimate is None or found.low is None or found.high is None or adjusted_p is None:
        return f"{capitalised(first)} and {second} cannot be compared: one of them has no trials."
    interval = f"{level(found.confidence)} interval {points(found.low)} to {points(found.high)}"
    facts = f"{interval}, {found.test}, adjusted {p_value(adjusted_p)}"
    if adjusted_p < alpha_of(found.confidence):
        better, worse = (first, second) if found.estimate > 0 else (second, first)
        size = f"{abs(100 * found.estimate):.1f} points"
        return f"{capitalised(better)} succeeded more often than {worse}: {size} ({facts})."
    detectable = detectable_effect(found.low, found.high, found.confidence, comparisons=comparisons)
    return (
        f"No difference between {first} and {second} shown: {points(found.estimate)} points ({facts}). "
        f"This many trials find a difference of {100 * detectable:.0f} points with {percent(POWER)} power."
    )


def level(confidence: float) -> str:
    """0.95 -> "95%"."""
    return f"{100 * confidence:g}%"


def capitalised(text: str) -> str:
    """The text with a capital first letter, the rest untouched."""
    return text[:1].upper() + text[1:]
