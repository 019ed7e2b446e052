"""Reading a design: its plan, what stands in the way of locking it, and the question of its power."""

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from labapp.studies.arms import Arm, study_arms
from labapp.studies.design.plan import EFFECTS, AnalysisPlan, PlanError, pair_keys
from labapp.studies.design.power import Assumed, Question
from labapp.studies.design.wording import plan_facts
from labapp.studies.factors import effect_labels, find_design
from labapp.studies.models import Condition, PolicyArm, Study
from labapp.studies.schedule import PlannedSlot, plan_slots
from labapp.studies.services import condition_plans

# Rates assumed where nobody gave any: a plausible example by grounded or ungrounded (world, behavior). They are no
# results; the published study gives no success rates of its cells.
EXAMPLE_RATES = {
    ("grounded", "grounded"): 0.86,
    ("grounded", "ungrounded"): 0.82,
    ("ungrounded", "grounded"): 0.74,
    ("ungrounded", "ungrounded"): 0.58,
}
EXAMPLE_BASELINE = 0.52


def study_plan(study: Study) -> AnalysisPlan:
    """The declared analysis plan; the defaults where none was declared, or where it is none of ours."""
    try:
        return AnalysisPlan.from_json(study.analysis_plan)
    except PlanError:
        return AnalysisPlan()


def plan_in_words(study: Study, arms: Sequence[Arm]) -> list[tuple[str, str]]:
    """The declared plan as (what, in words); one that is none of ours stands as it was recorded."""
    try:
        plan = AnalysisPlan.from_json(study.analysis_plan)
    except PlanError:
        return [("As recorded", json.dumps(study.analysis_plan, ensure_ascii=False))]
    return plan_facts(plan, comparison_labels(arms), {arm.code: arm.name for arm in arms})


def assumed_rates(arms: Sequence[Arm], plan: AnalysisPlan) -> dict[str, float]:
    """Arm code -> assumed success rate, from the plan or the example."""
    return {arm.code: plan.assumed_rates.get(arm.code, _example(arm)) for arm in arms}


def _example(arm: Arm) -> float:
    return EXAMPLE_RATES.get((arm.factors.get("world", ""), arm.factors.get("behavior", "")), EXAMPLE_BASELINE)


def comparison_labels(arms: Sequence[Arm]) -> dict[str, str]:
    """Key -> words, for every effect and every pair that the arms allow."""
    names = {arm.code: arm.name for arm in arms}
    pairs = {key: " and ".join(names[code] for code in key.split(":")) for key in pair_keys(list(names))}
    design = find_design(arms)
    if design is None or not all(design.cells):
        return pairs
    effects = effect_labels(design)
    return {key: effects[key] for key in EFFECTS} | pairs


def trial_groups(conditions: Sequence[tuple[int, bool]]) -> tuple[tuple[str, int], ...]:
    """Trials per arm of (trials, is_shifted) conditions: all, and nominal and shifted apart where there are both."""
    nominal = sum(trials for trials, is_shifted in conditions if not is_shifted)
    shifted = sum(trials for trials, is_shifted in conditions if is_shifted)
    apart = (("nominal", nominal), ("shifted", shifted)) if nominal and shifted else ()
    return (("all", nominal + shifted), *apart)


def power_question(
    arms: Sequence[Arm], groups: tuple[tuple[str, int], ...], plan: AnalysisPlan, rates: Mapping[str, float]
) -> Question:
    """What is asked of `design_power`; withdrawn arms have no place in it."""
    design = find_design(arms)
    cells = tuple(tuple(arm.code for arm in cell) for cell in design.cells) if design else ()
    labels = effect_labels(design) if design else dict.fromkeys(EFFECTS, "")
    return Question(
        arms=tuple(Assumed(arm.code, arm.name, rates[arm.code]) for arm in arms),
        cells=cells,
        labels=tuple(labels[key] for key in EFFECTS),
        groups=groups,
        alpha=plan.alpha,
        strict_alpha=plan.strictest_alpha,
        primary=plan.primary,
        margins=plan.margins,
    )


def study_question(study: Study) -> Question:
    """The power of a study as its rows have it."""
    arms, plan = study_arms(study, with_names=True), study_plan(study)
    groups = trial_groups([(c.trials_per_arm, c.is_shifted) for c in study.conditions.all()])
    return power_question(arms, groups, plan, assumed_rates(arms, plan))


def design_problems(study: Study) -> list[str]:
    """Everything that stands in the way of locking, in words."""
    arms = list(study.arms.select_related("policy__run"))
    problems = [no_checkpoint(arm) for arm in arms if arm.checkpoint_id is None]
    if not arms:
        problems.append("The study has no arm: choose at least one policy.")
    if study.cell is None:
        return [*problems, "The study names no cell to run on."]
    problems += [
        f"Arm {arm.code} ({arm.label}) was made for {arm.policy.embodiment}, but the cell is {study.cell.embodiment}: "
        "leave the policy out, or choose another cell."
        for arm in arms
        if arm.policy and arm.policy.embodiment not in ("", study.cell.embodiment)
    ]
    plans = condition_plans(study)
    if not sum(plan.trials for plan in plans):
        problems.append("No trials are planned: give a condition at least one trial per arm.")
    labels = {c.slug: c.label for c in study.conditions.all()}
    problems += [
        f"No object of the study fits the condition “{labels[plan.slug]}”."
        for plan in plans
        if plan.trials and not plan.objects
    ]
    return problems


def no_checkpoint(arm: PolicyArm) -> str:
    """Why an arm has nothing to run yet, and what to do."""
    run = arm.policy.run if arm.policy else None
    start = f"Arm {arm.code} ({arm.label}) has no checkpoint"
    if run is None:
        return f"{start}: its policy was never trained. Train it, then save this draft; or leave it out."
    if run.status in run.FINISHED and run.status != run.Status.SUCCEEDED:
        return f"{start}: its training ended as {run.get_status_display()}. Retry the run, or leave the policy out."
    return f"{start} yet: its training is {run.get_status_display()}. Save this draft once it is done; or leave it out."


def blocking_facts(study: Study, conditions: Sequence[Condition]) -> dict[str, int]:
    """Numbers behind the explanation of the schedule."""
    arms = study.arms.filter(withdrawn_at=None).count()
    per_arm = sum(c.trials_per_arm for c in conditions)
    return {"arms": arms, "blocks": per_arm, "trials": arms * per_arm}


class Strip(NamedTuple):
    """When one condition comes: the blocks it has, out of how many."""

    label: str
    blocks: tuple[int, ...]


class OrderPreview(NamedTuple):
    """The order that a lock would freeze: its first block, by code, and when each condition comes."""

    first: tuple[PlannedSlot, ...]
    strips: tuple[Strip, ...]
    blocks: int


def order_preview(study: Study) -> OrderPreview:
    """What the seed draws for the saved draft.

    Raises:
        ValueError: there is no order yet, and why.
    """
    slots = plan_slots([a.code for a in study.arms.all()], condition_plans(study), study.seed)
    begun = {slot.block: slot.condition for slot in slots}
    strips = tuple(
        Strip(c.label, tuple(block for block, slug in begun.items() if slug == c.slug))
        for c in study.conditions.all()
        if c.trials_per_arm
    )
    return OrderPreview(tuple(slot for slot in slots if slot.block == 1), strips, len(begun))
