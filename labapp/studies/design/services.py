"""Changing a draft's design. A locked one changes only by amendment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from labapp.cells.models import Cell
from labapp.policies.models import Policy
from labapp.studies.design.plan import AnalysisPlan
from labapp.studies.models import Condition, PolicyArm, Study
from labapp.studies.presets import ConditionPreset
from labapp.studies.services import arms_create, condition_row


@dataclass(frozen=True)
class Design:
    """Everything of a study that may change until it is locked.

    ``plan_policies`` says for which policy each code of the plan stood, where the plan is of other arms.
    """

    name: str
    cell: Cell
    question: str
    time_limit_s: float
    seed: int
    policies: Sequence[Policy]
    object_names: Sequence[str]
    conditions: Sequence[ConditionPreset]
    plan: AnalysisPlan
    plan_policies: Mapping[str, str] = field(default_factory=dict)


class DraftConflict(Exception):
    """Somebody saved the draft since it was read; the message says who and when. ``version`` is the newest."""

    def __init__(self, study: Study) -> None:
        self.version = study.draft_version  # the newest
        saved = study.draft_versions.select_related("actor").first()
        who = str(saved.actor) if saved and saved.actor else "Somebody"
        at = f" at {timezone.localtime(saved.created_at):%H:%M}" if saved else ""
        super().__init__(f"{who} saved this draft{at}, while you were changing it.")


@transaction.atomic
def design_update(*, study: Study, design: Design, version: int | None = None) -> Study:
    """Store the whole design of a draft. Arms that stay keep their codes.

    Raises:
        DraftConflict: somebody saved since ``version``.
        ValidationError: no draft, a name that is taken, a condition named twice, or what does not fit the cell.
    """
    study = draft_locked(study, version)
    check_name(study, design.name)
    check_fits(design)
    study.name, study.cell, study.is_simulated = design.name, design.cell, design.cell.is_simulated
    study.question, study.time_limit_s, study.seed = design.question, design.time_limit_s, design.seed
    study.object_names = sorted(design.object_names)
    study.draft_version += 1
    arms_set(study, design.policies)
    conditions_set(study, design.conditions)
    codes = dict(study.arms.values_list("policy__name", "code"))
    now_called = {code: codes.get(policy, code) for code, policy in design.plan_policies.items()}
    study.analysis_plan = design.plan.renamed(now_called).kept_to(codes.values()).to_json()
    study.full_clean(exclude=["created_by"])
    study.save()
    return study


def check_name(study: Study, name: str) -> None:
    """Raises ValidationError where another study is called so. The address stays as it is."""
    if Study.objects.filter(name__iexact=name).exclude(pk=study.pk).exists():
        raise ValidationError({"name": f"A study named “{name}” exists already."})


def check_fits(design: Design) -> None:
    """Whether policies and objects are of the cell.

    Raises:
        ValidationError: by field, naming what is not.
    """
    strange = [p.name for p in design.policies if p.embodiment not in ("", design.cell.embodiment)]
    there = set(design.cell.cell_objects.values_list("name", flat=True))
    missing = sorted(set(design.object_names) - there)
    errors = {}
    if strange:
        errors["policies"] = f"Made for another embodiment than {design.cell.embodiment}: {', '.join(strange)}."
    if missing:
        errors["object_names"] = f"{design.cell} has no object {', '.join(missing)}; choose among its own."
    if errors:
        raise ValidationError(errors)


@transaction.atomic
def plan_update(*, study: Study, plan: AnalysisPlan) -> Study:
    """Declare the analysis plan of a draft.

    Raises:
        ValidationError: the study is no draft, or the plan names an arm that there is not.
    """
    study = draft_locked(study, None)
    if plan.kept_to(set(study.arms.values_list("code", flat=True))) != plan:
        raise ValidationError({"analysis_plan": "The plan names an arm that the study does not have."})
    study.analysis_plan = plan.to_json()
    study.draft_version += 1
    study.save(update_fields=["analysis_plan", "draft_version"])
    return study


def draft_locked(study: Study, version: int | None) -> Study:
    """The draft's row, held until the transaction ends.

    Raises:
        ValidationError: the study is no draft, or was deleted meanwhile.
        DraftConflict: somebody saved since ``version``.
    """
    found = Study.objects.select_for_update(of=("self",)).select_related("cell").filter(pk=study.pk).first()
    if found is None:
        raise ValidationError(f"The draft “{study.name}” was deleted meanwhile.")
    study = found
    if study.status != Study.Status.DRAFT:
        raise ValidationError("The design is locked: change it by an amendment with a reason.")
    if version is not None and version != study.draft_version:
        raise DraftConflict(study)
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
