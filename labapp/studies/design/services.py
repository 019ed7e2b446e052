"""Changing a draft's design. A locked one changes only by amendment."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db import transaction

from labapp.policies.models import Policy
from labapp.studies.design.plan import AnalysisPlan
from labapp.studies.models import Condition, PolicyArm, Study
from labapp.studies.presets import ConditionPreset
from labapp.studies.services import arms_create, condition_row


@dataclass(frozen=True)
class Design:
    """Everything of a study that may change until it is locked."""

    question: str
    time_limit_s: float
    seed: int
    policies: Sequence[Policy]
    object_names: Sequence[str]
    conditions: Sequence[ConditionPreset]
    plan: AnalysisPlan


@transaction.atomic
def design_update(*, study: Study, design: Design) -> Study:
    """Store the whole design of a draft. Arms that stay keep their codes.

    Raises:
        ValidationError: the study is no draft, or a condition is named twice.
    """
    study = _draft(study)
    study.question, study.time_limit_s, study.seed = design.question, design.time_limit_s, design.seed
    study.object_names = sorted(design.object_names)
    arms_set(study, design.policies)
    conditions_set(study, design.conditions)
    codes = set(study.arms.values_list("code", flat=True))
    study.analysis_plan = design.plan.kept_to(codes).to_json()
    study.full_clean(exclude=["created_by"])
    study.save()
    return study


@transaction.atomic
def plan_update(*, study: Study, plan: AnalysisPlan) -> Study:
    """Declare the analysis plan of a draft.

    Raises:
        ValidationError: the study is no draft, or the plan names an arm that there is not.
    """
    study = _draft(study)
    if plan.kept_to(set(study.arms.values_list("code", flat=True))) != plan:
        raise ValidationError({"analysis_plan": "The plan names an arm that the study does not have."})
    study.analysis_plan = plan.to_json()
    study.save(update_fields=["analysis_plan"])
    return study


def _draft(study: Study) -> Study:
    study = Study.objects.select_for_update().get(pk=study.pk)
    if study.status != Study.Status.DRAFT:
        raise ValidationError("The design is locked: change it by an amendment with a reason.")
    return study


def arms_set(study: Study, policies: Sequence[Policy]) -> None:
    """One arm per policy, on its final checkpoint where there is one yet."""
    study.arms.exclude(policy__in=policies).delete()
    present = {arm.policy_id: arm for arm in study.arms.all()}
    for arm in present.values():
        arm.checkpoint, arm.label = arm.policy.final_checkpoint, arm.policy.name
    PolicyArm.objects.bulk_update(present.values(), ["checkpoint", "label"])
    arms_create(study, [policy for policy in policies if policy.pk not in present])


def conditions_set(study: Study, presets: Sequence[ConditionPreset]) -> None:
    """Replace the conditions of a draft.

    Raises:
        ValidationError: two conditions of the same name.
    """
    slugs = [preset.slug for preset in presets]
    twice = sorted({preset.label for preset in presets if slugs.count(preset.slug) > 1})
    if twice:
        raise ValidationError({"conditions": f"Two conditions are called “{twice[0]}”; give each its own name."})
    study.conditions.all().delete()
    Condition.objects.bulk_create(condition_row(study, order, preset) for order, preset in enumerate(presets))
