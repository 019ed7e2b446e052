"""Sentences on a design and its power: what is planned, what it would show, and what it would not."""

from collections.abc import Mapping

from labapp.statistics.wording import capitalised, percent, points
from labapp.studies.design.plan import ADJUSTMENTS, MARGIN_KINDS, SHAPES, STOPPING, TESTS, AnalysisPlan
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
    formula = "" if power.formula is None else f" ({percent(power.formula)} by the plain formula)"
    return f"{start}{percent(chance)} of studies{formula}. {_rest(power, trials)}"


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
    return "no size that fits below 100%" if share is None else f"{100 * share:.0f} points"


def claim_sentence(claim: Claim) -> str:
    """What a declared margin needs."""
    if claim.power is None or claim.power_if_equal is None:
        return f"{claim.label}: no trials are planned."
    return (
        f"{claim.label}: claimed in {percent(claim.power)} of studies under the assumed rates, and in "
        f"{percent(claim.power_if_equal)} were both arms equally good."
    )


AT_LOOKS = {
    "group-sequential": "pooled score against the boundary of each look",
    "anytime": "betting confidence sequence",
}
OTHER_TESTS = {
    "barnard": "Barnard’s test, which the plan names, is nearly as powerful",
    "fisher": "Fisher’s test, which the plan names, finds less",
    "mcnemar": "The plan pairs trials by block: McNemar’s test finds more than that where the outcomes of a block go "
    "together, and less where they do not",
}


def pairs_note(plan: AnalysisPlan) -> str:
    """How the power of pairs, which is Boschloo's, stands to the test that the plan names; "" where it is Boschloo."""
    return f"{OTHER_TESTS[plan.test]}." if plan.stopping == "fixed" and plan.test in OTHER_TESTS else ""


def cautions(report: Report) -> list[str]:
    """Primary comparisons that this design would rather miss than find."""
    return [
        f"{capitalised(power.label)} is primary, and these trials would miss the assumed effect of "
        f"{points(power.effect)} points more often than find it."
        for power in (*report.effects, *report.pairs)
        if power.is_primary and power.powers and power.powers[0] is not None and power.powers[0] < LOW_POWER
    ]


def plan_facts(plan: AnalysisPlan, labels: Mapping[str, str], names: Mapping[str, str]) -> list[tuple[str, str]]:
    """The declared plan as (what, in words), for pages and reports.

    Args:
        labels: comparison key -> words.
        names: arm code -> name.
    """
    stopping = STOPPING[plan.stopping]
    if plan.stopping == "group-sequential":
        stopping = f"{stopping}: {plan.looks} looks, {SHAPES[plan.shape]}"
    margins = [
        f"{names[m.first]} {MARGIN_KINDS[m.kind]} {names[m.second]} within {100 * m.margin:g} points"
        for m in plan.margins
    ]
    assumed = [f"{names[code]} {100 * rate:g}%" for code, rate in plan.assumed_rates.items() if code in names]
    return [
        ("Primary comparisons", ", ".join(labels.get(key, key) for key in plan.primary) or "none declared"),
        ("Level", f"{plan.alpha:g}, two-sided; adjustment: {ADJUSTMENTS[plan.adjustment]}"),
        ("Test of two arms", AT_LOOKS.get(plan.stopping, TESTS[plan.test])),
        ("Stopping rule", stopping),
        ("Margins", "; ".join(margins) or "none: the study may not claim that arms are equal"),
        ("Assumed rates", ", ".join(assumed) or "none declared"),
    ]
