"""Sentences on the power of a design: what the planned trials would show, and what they would not."""

from labapp.statistics.wording import capitalised, percent, points
from labapp.studies.design.power import TARGET, Claim, Power, Report

LOW_POWER = 0.5


def power_sentence(power: Power, trials: int) -> str:
    """What the planned trials make of one comparison, under the assumed rates."""
    chance = power.powers[0] if power.powers else None
    if chance is None:
        return f"{capitalised(power.label)}: no trials are planned, so nothing can be shown."
    if not power.effect:
        return f"{capitalised(power.label)}: the assumed rates give no effect, so there is nothing to find."
    size = f"{abs(100 * power.effect):.1f} points"
    start = f"{capitalised(power.label)}: were the assumed {size} true, {trials} trials per arm would show it in "
    return f"{start}{percent(chance)} of studies. {_rest(power, trials)}"


def _rest(power: Power, trials: int) -> str:
    if power.powers[0] is not None and power.powers[0] >= TARGET:
        return f"An effect of {_size(power.detectable)} would still be found with {percent(TARGET)} power."
    found = f"What {percent(TARGET)} power would need: {_needed(power.needed)} per arm"
    if power.detectable is None:
        return f"{found}."
    return f"{found}, or an effect of {_size(power.detectable)}."


def _needed(trials: int | None) -> str:
    return "more than 20,000 trials" if trials is None else f"about {trials} trials"


def _size(share: float | None) -> str:
    return "no size that fits below 100 %" if share is None else f"{100 * share:.0f} points"


def claim_sentence(claim: Claim) -> str:
    """What a declared margin needs."""
    if claim.power is None or claim.power_if_equal is None:
        return f"{claim.label}: no trials are planned."
    return (
        f"{claim.label}: claimed in {percent(claim.power)} of studies under the assumed rates, and in "
        f"{percent(claim.power_if_equal)} were both arms equally good."
    )


def cautions(report: Report) -> list[str]:
    """Primary comparisons that this design would rather miss than find."""
    return [
        f"{capitalised(power.label)} is primary, and these trials would miss the assumed effect of "
        f"{points(power.effect)} points more often than find it."
        for power in (*report.effects, *report.pairs)
        if power.is_primary and power.powers and power.powers[0] is not None and power.powers[0] < LOW_POWER
    ]
