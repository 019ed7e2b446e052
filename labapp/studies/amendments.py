"""Changing a locked study: only here, only with a reason, with old and new values kept; reports list it as a deviation.

The database refuses every other change of a locked design (migration 0003).
"""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.db.models import F, Max

from labapp.accounts.models import User
from labapp.studies.models import PolicyArm, Study, StudyEvent
from labapp.studies.schedule import SEED_LIMIT, PlannedSlot, plan_slots
from labapp.studies.services import arm_withdraw, condition_plans, design_sha256, slots_store

LONGEST_TIME_LIMIT_S = 600.0
MOST_ADDED = 1000  # trials per arm of a condition, by one amendment
TIME_LIMIT, TRIALS = "time limit [s]", "trials per arm, "  # what changed, in an event's payload


@contextmanager
def _amending() -> Iterator[None]:
    """Tell the database that what follows is an amendment; outside it, a locked design cannot be changed."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('groundlab.amendment', 'on', true)")
        yield
        cursor.execute("SELECT set_config('groundlab.amendment', '', true)")


@transaction.atomic
def time_limit_amend(*, study: Study, time_limit_s: float, reason: str, actor: User, now: datetime) -> StudyEvent:
    """Give the trials from now on another time limit.

    Raises:
        ValidationError: without a reason, on an impossible or unchanged limit, or on a study that takes no trials.
    """
    study = _amendable(study, reason)
    if not 0 < time_limit_s <= LONGEST_TIME_LIMIT_S:
        raise ValidationError({"time_limit_s": f"A time limit lies between 0 and {LONGEST_TIME_LIMIT_S:g} s."})
    if time_limit_s == study.time_limit_s:
        raise ValidationError({"time_limit_s": f"The time limit is {time_limit_s:g} s already."})
    change = _change(TIME_LIMIT, study.time_limit_s, time_limit_s)
    with _amending():
        study.time_limit_s = time_limit_s
        study.save(update_fields=["time_limit_s"])
    return _record(study, [change], reason, actor, now)


@transaction.atomic
def trials_add(*, study: Study, extra: Mapping[str, int], reason: str, actor: User, now: datetime) -> StudyEvent:
    """Append new seeded blocks: ``extra`` trials per arm of each condition (by slug), for arms not withdrawn.

    Raises:
        ValidationError: without a reason, without trials, with too many, or on a study that takes no trials.
    """
    study = _amendable(study, reason)
    wanted = {slug: count for slug, count in extra.items() if count}
    if not wanted or min(wanted.values()) < 0:
        raise ValidationError({"extra": "Give at least one condition more trials; planned ones are never taken away."})
    if max(wanted.values()) > MOST_ADDED:
        raise ValidationError({"extra": f"An amendment adds at most {MOST_ADDED} trials per arm to a condition."})
    conditions = {c.slug: c for c in study.conditions.all()}
    strange = sorted(set(wanted) - set(conditions))
    if strange:
        raise ValidationError({"extra": f"The study has no condition {', '.join(strange)}."})
    seed = _seed(study)
    slots = _appended(study, wanted, seed)
    changes = [
        _change(
            f"{TRIALS}{conditions[slug].label}",
            conditions[slug].trials_per_arm,
            conditions[slug].trials_per_arm + count,
        )
        for slug, count in wanted.items()
    ]
    with _amending():
        for slug, count in wanted.items():
            study.conditions.filter(slug=slug).update(trials_per_arm=F("trials_per_arm") + count)
        slots_store(study, slots)
    return _record(study, changes, reason, actor, now, seed=seed, slots=len(slots))


def _appended(study: Study, wanted: Mapping[str, int], seed: int) -> list[PlannedSlot]:
    """A schedule of the new trials, numbered after the last block and slot there are."""
    arms = [arm.code for arm in study.arms.filter(withdrawn_at=None)]
    plans = [replace(plan, trials=wanted.get(plan.slug, 0)) for plan in condition_plans(study)]
    try:
        slots = plan_slots(arms, plans, seed)
    except ValueError as error:
        raise ValidationError(f"The trials cannot be added: {error}.") from error
    last = study.slots.aggregate(block=Max("block"), position=Max("position"))
    return [
        replace(slot, block=slot.block + (last["block"] or 0), position=slot.position + (last["position"] or 0))
        for slot in slots
    ]


def _seed(study: Study) -> int:
    """Another seed for every amendment, but fixed by the study: nobody chose it."""
    text = f"{study.design_sha256}/{study.events.count()}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) % SEED_LIMIT


@transaction.atomic
def arm_amend_withdrawn(*, study: Study, arm: PolicyArm, reason: str, actor: User, now: datetime) -> PolicyArm:
    """Take an arm out: its trials stay, its open slots are skipped.

    Raises:
        ValidationError: without a reason, twice, the last arm, or on a study that takes no trials.
    """
    study = _amendable(study, reason)
    if arm.withdrawn_at is not None:
        raise ValidationError({"arm": f"Arm {arm.code} was withdrawn already, on {arm.withdrawn_at:%Y-%m-%d}."})
    if study.arms.filter(withdrawn_at=None).count() == 1:
        raise ValidationError({"arm": "This is the last arm: finish the study with a reason instead."})
    return arm_withdraw(arm=arm, actor=actor, reason=reason, now=now)


@transaction.atomic
def deviation_note(*, study: Study, reason: str, actor: User, now: datetime) -> StudyEvent:
    """Put on record what went otherwise than planned, without changing the design. Possible after the end, too.

    Raises:
        ValidationError: without words, or on a draft.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    if study.status == Study.Status.DRAFT:
        raise ValidationError("A draft is changed in its design; deviations are noted once it is locked.")
    _reason(reason)
    return _record(study, [], reason, actor, now)


def _amendable(study: Study, reason: str) -> Study:
    study = Study.objects.select_for_update(of=("self",)).select_related("cell").get(pk=study.pk)
    if study.status != Study.Status.LOCKED:
        state = "a draft: change its design" if study.status == Study.Status.DRAFT else "finished"
        raise ValidationError(f"Only a locked study is amended; this one is {state}.")
    _reason(reason)
    return study


def _reason(reason: str) -> None:
    if not reason.strip():
        raise ValidationError({"reason": "Say why; every report of the study lists this as a deviation."})


def _change(what: str, old: Any, new: Any) -> dict[str, Any]:
    return {"what": what, "old": old, "new": new}


def _record(
    study: Study, changes: list[dict[str, Any]], reason: str, actor: User, now: datetime, **facts: Any
) -> StudyEvent:
    """The event, with the hash of the design as it is from now on; the locked design keeps its own hash."""
    payload = {"changes": changes, "sha256": current_sha256(study), "at": now.isoformat(), **facts}
    return StudyEvent.objects.create(
        study=study, kind=StudyEvent.Kind.AMENDED, reason=reason.strip(), payload=payload, actor=actor
    )


def current_sha256(study: Study) -> str:
    """Hash of the design as its rows are now: equal to the locked one until the first amendment."""
    if study.cell is None:
        return study.design_sha256
    return design_sha256(study, planned_slots(study))


def planned_slots(study: Study) -> list[PlannedSlot]:
    """The schedule as its rows have it, without the repetitions of invalid trials."""
    rows = study.slots.filter(reschedules=None).select_related("arm", "condition", "object").order_by("position")
    return [
        PlannedSlot(s.position, s.block, s.arm.code, s.condition.slug, s.object.name, s.belt_speed, s.bin, s.seed)
        for s in rows
    ]
