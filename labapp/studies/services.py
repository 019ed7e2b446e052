"""Changing studies: create, lock, withdraw an arm, unblind, finish."""

import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.text import slugify

from labapp.accounts.models import User
from labapp.cells.models import Cell, CellObject
from labapp.names import RESERVED
from labapp.policies.models import Checkpoint, Policy
from labapp.studies.models import Condition, PolicyArm, Study, StudyEvent, TrialSlot
from labapp.studies.presets import PAPER_CONDITIONS, ConditionPreset
from labapp.studies.schedule import ConditionPlan, PlannedSlot, plan_slots
from labapp.studies.selectors import slots_open

ARM_CODES = [f"{letter}{number}" for letter in "ABCDEFGHJKLMNPQRSTUVWXYZ" for number in range(10, 100)]
CONDITION_DESIGN = (
    "slug", "label", "is_shifted", "light", "belt_speed_min", "belt_speed_max", "uses_novel_objects", "trials_per_arm",
)  # fmt: skip


@transaction.atomic
def study_create(
    *,
    name: str,
    cell: Cell,
    checkpoints: Sequence[Checkpoint],
    actor: User | None,
    seed: int,
    conditions: Sequence[ConditionPreset] = PAPER_CONDITIONS,
    question: str = "",
    time_limit_s: float = 12.0,
) -> Study:
    """Create a draft study with one blinded arm per checkpoint.

    Raises:
        ValidationError: a name already taken, or a checkpoint named twice; the message is keyed by the form's field.
    """
    slug = free_slug(name)
    if len({c.pk for c in checkpoints}) != len(checkpoints):
        raise ValidationError({"checkpoints": "Each policy can be an arm only once."})
    study = Study(
        name=name,
        slug=slug,
        cell=cell,
        seed=seed,
        question=question,
        time_limit_s=time_limit_s,
        created_by=actor,
        is_simulated=cell.is_simulated,
    )
    study.full_clean(exclude=["created_by"])
    study.save()
    arms_create(study, [c.policy for c in checkpoints], checkpoints)
    Condition.objects.bulk_create(condition_row(study, order, c) for order, c in enumerate(conditions))
    return study


def free_slug(name: str) -> str:
    """The address of a study of this name.

    Raises:
        ValidationError: the name is taken, no line of text, has no letters, or is the address of a page.
    """
    if not name.isprintable():
        raise ValidationError({"name": "A name is one line of printable letters."})
    slug = slugify(name)[:80]
    if not slug or slug in RESERVED or Study.objects.filter(slug=slug).exists():
        raise ValidationError({"name": f"A study named “{name}” exists already, or the name has no letters."})
    return slug


def arms_create(study: Study, policies: Sequence[Policy], checkpoints: Sequence[Checkpoint | None] = ()) -> None:
    """One arm per policy, on the given checkpoint or its final one; a policy under training has none yet.

    Codes are drawn, not counted: neither a code nor its order says anything about the policy.
    """
    free = sorted(set(ARM_CODES) - set(study.arms.values_list("code", flat=True)))
    codes = secrets.SystemRandom().sample(free, len(policies))
    tried = checkpoints or [policy.final_checkpoint for policy in policies]
    PolicyArm.objects.bulk_create(
        PolicyArm(study=study, code=code, policy=policy, checkpoint=checkpoint, label=policy.name)
        for code, policy, checkpoint in zip(codes, policies, tried, strict=True)
    )


def condition_row(study: Study, order: int, preset: ConditionPreset) -> Condition:
    values = asdict(preset)
    low, high = values.pop("belt_speed")
    return Condition(study=study, order=order, belt_speed_min=low, belt_speed_max=high, **values)


@transaction.atomic
def study_lock(*, study: Study, actor: User | None, now: datetime, version: int | None = None) -> Study:
    """Freeze the design: draw the schedule from the seed, hash both, and refuse later edits.

    Raises:
        ValidationError: not a draft, saved by somebody since ``version``, no arm, an arm without a checkpoint or of
            another embodiment, or a condition that no object fits.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    if study.status != Study.Status.DRAFT:
        raise ValidationError("This study is locked already.")
    if version is not None and version != study.draft_version:
        raise ValidationError("Somebody saved this draft since you looked at it: look at it again, then lock it.")
    check_arms(study)
    study.object_names = [o.name for o in study_objects(study)]  # an object that the cell gets later is not meant
    try:
        slots = plan_slots([a.code for a in study.arms.all()], condition_plans(study), study.seed)
    except ValueError as error:
        raise ValidationError(f"The design cannot be locked: {error}.") from error
    slots_store(study, slots)
    study.design_sha256 = design_sha256(study, slots)
    study.status, study.locked_at = Study.Status.LOCKED, now
    study.save(update_fields=["design_sha256", "status", "locked_at", "object_names"])
    _record(study, StudyEvent.Kind.LOCKED, actor, payload={"sha256": study.design_sha256, "slots": len(slots)})
    return study


def check_arms(study: Study) -> None:
    """Whether every arm can be tried on the study's cell.

    Raises:
        ValidationError: an arm without a checkpoint, or of another embodiment, by its code.
    """
    arms = list(study.arms.select_related("policy"))
    without = [arm.code for arm in arms if arm.checkpoint_id is None]
    if without:
        raise ValidationError(
            f"Arms without a checkpoint cannot be tried: {', '.join(without)}. Wait until their policies are trained, "
            "or leave them out of the design."
        )
    strange = [arm.code for arm in arms if arm.policy.embodiment not in ("", study.cell.embodiment)]
    if strange:
        raise ValidationError(
            f"Arms made for another embodiment than {study.cell.embodiment} cannot be tried: {', '.join(strange)}."
        )


def condition_plans(study: Study) -> list[ConditionPlan]:
    """What the schedule draws from: each condition with the objects of the study that fit it."""
    objects = study_objects(study)
    return [
        ConditionPlan(
            slug=c.slug,
            trials=c.trials_per_arm,
            belt_speed=(c.belt_speed_min, c.belt_speed_max),
            objects=tuple(o.name for o in objects if o.is_novel == c.uses_novel_objects),
        )
        for c in study.conditions.all()
    ]


def study_objects(study: Study) -> list[CellObject]:
    """Objects of the cell that take part in the study."""
    objects = study.cell.cell_objects.all() if study.cell else []
    return [o for o in objects if not study.object_names or o.name in study.object_names]


def design_sha256(study: Study, slots: Sequence[PlannedSlot]) -> str:
    """Hash of everything that the conclusions rest on: arms with their checkpoints, conditions, plan and order."""
    return facts_sha256(design_facts(study, slots))


def design_facts(study: Study, slots: Sequence[PlannedSlot]) -> dict[str, Any]:
    """What the hash is taken of."""
    return {
        "cell": study.cell.slug,
        "arms": {a.code: a.checkpoint.sha256 for a in study.arms.select_related("checkpoint")},
        "objects": [o.name for o in study_objects(study)],
        "conditions": list(study.conditions.values(*CONDITION_DESIGN)),
        "analysis_plan": study.analysis_plan,
        "seed": study.seed,
        "time_limit_s": study.time_limit_s,
        "slots": [asdict(slot) for slot in slots],
    }


def facts_sha256(facts: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def slots_store(study: Study, slots: Sequence[PlannedSlot]) -> None:
    """The rows of a schedule."""
    arms = {a.code: a for a in study.arms.all()}
    conditions = {c.slug: c for c in study.conditions.all()}
    objects = {o.name: o for o in study.cell.cell_objects.all()}
    rows = [
        asdict(s) | {"arm": arms[s.arm], "condition": conditions[s.condition], "object": objects[s.object]}
        for s in slots
    ]
    TrialSlot.objects.bulk_create(TrialSlot(study=study, **row) for row in rows)


@transaction.atomic
def arm_withdraw(*, arm: PolicyArm, actor: User, reason: str, now: datetime) -> PolicyArm:
    """Take an arm out of a locked study; its trials stay, its open slots are skipped, the report lists it."""
    if not reason.strip():
        raise ValidationError({"reason": "Say why the arm is withdrawn; the report lists it as a deviation."})
    if arm.withdrawn_at is None:
        arm.withdrawn_at = now
        arm.save(update_fields=["withdrawn_at"])
        changes = [{"what": f"arm {arm.code}", "old": "in the study", "new": "withdrawn"}]
        _record(arm.study, StudyEvent.Kind.ARM_WITHDRAWN, actor, reason, {"arm": arm.code, "changes": changes})
    return arm


@transaction.atomic
def study_unblind(*, study: Study, actor: User, reason: str, now: datetime) -> Study:
    """Reveal which policy is behind each code. Doing it before the study is finished needs a reason and marks it.

    Raises:
        ValidationError: not locked yet, or early without a reason.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    if study.status == Study.Status.DRAFT:
        raise ValidationError("A draft has nothing to unblind: lock it first.")
    is_early = study.status != Study.Status.FINISHED
    if is_early and not reason.strip():
        raise ValidationError({"reason": "Trials are still open: say why the study is unblinded early."})
    if study.is_blinded:
        study.unblinded_at, study.unblinded_by = now, actor
        study.save(update_fields=["unblinded_at", "unblinded_by"])
        _record(study, StudyEvent.Kind.UNBLINDED, actor, reason, {"is_early": is_early})
    return study


@transaction.atomic
def study_finish(*, study: Study, actor: User | None, reason: str = "", now: datetime) -> Study:
    """Close the study. Stopping with slots still open is a deviation that the report lists with its reason."""
    study = Study.objects.select_for_update().get(pk=study.pk)
    if study.status == Study.Status.FINISHED:
        return study
    if study.status == Study.Status.DRAFT:
        raise ValidationError("A draft cannot be finished: lock it first.")
    open_slots = slots_open(study).count()
    if open_slots and not reason.strip():
        raise ValidationError({"reason": f"{open_slots} planned trials were not run: say why the study ends here."})
    study.status, study.finished_at = Study.Status.FINISHED, now
    study.save(update_fields=["status", "finished_at"])
    _record(study, StudyEvent.Kind.FINISHED, actor, reason, {"open_slots": open_slots})
    return study


def _record(
    study: Study, kind: StudyEvent.Kind, actor: User | None, reason: str = "", payload: dict | None = None
) -> None:
    StudyEvent.objects.create(study=study, kind=kind, actor=actor, reason=reason.strip(), payload=payload or {})
