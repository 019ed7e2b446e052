"""Storing an imported table of outcomes as a finished, unblinded study: all of it or nothing."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.utils import timezone
from django.utils.text import slugify

from labapp.accounts.models import User
from labapp.studies.importing.outcome_tables import OutcomeRow
from labapp.studies.models import Condition, PolicyArm, Study, StudyEvent, Trial
from labapp.studies.services import free_slug

DEFAULT_CONDITION = "all trials"
BATCH = 2000


@transaction.atomic
def study_import(
    *,
    name: str,
    rows: Sequence[OutcomeRow],
    actor: User | None,
    is_simulated: bool,
    now: datetime,
    note: str = "",
    source: Mapping[str, Any] | None = None,
    told: Callable[[int], None] = lambda stored: None,
) -> Study:
    """A study from outcome rows. An arm is a label together with its factor levels.

    ``source`` says which files they come from and is kept; ``told`` hears how many trials are stored, now and then.

    Raises:
        ValidationError: the name is taken or has no letters.
    """
    over = {"status": Study.Status.FINISHED, "is_imported": True, "design_sha256": "imported", "unblinded_by": actor}
    over |= dict.fromkeys(("locked_at", "unblinded_at", "finished_at"), now)
    facts = {"name": name, "slug": free_slug(name), "question": note, "is_simulated": is_simulated}
    study = Study.objects.create(created_by=actor, **facts, **over)
    arms = _create_arms(study, rows)
    conditions = _create_conditions(study, rows)
    for start in range(0, len(rows), BATCH):
        batch = rows[start : start + BATCH]
        Trial.objects.bulk_create(
            _trial(study, row, arms[_arm_key(row)], conditions[row.condition], now) for row in batch
        )
        told(start + len(batch))
    payload = {"trials": len(rows), **(source or {})}
    StudyEvent.objects.create(study=study, kind=StudyEvent.Kind.IMPORTED, actor=actor, payload=payload)
    return study


@transaction.atomic
def import_undo(*, study: Study) -> int:
    """Take an imported study away with its trials and what was said of them; returns how many trials there were.

    Raises:
        ValidationError: it was undone meanwhile, or its trials were run here, and those are never deleted.
    """
    found = Study.objects.select_for_update().filter(pk=study.pk).first()
    if found is None:
        raise ValidationError(f"The import of “{study.name}” was undone meanwhile.")
    if not found.is_imported:
        raise ValidationError("Only an import can be undone: trials that were run here are never deleted.")
    for relation in Trial._meta.related_objects:  # notes, corrections and whatever else was said of its trials
        relation.related_model.objects.filter(**{f"{relation.field.name}__study": study}).delete()
    with connection.cursor() as cursor:  # one statement: QuerySet.delete would read every row first
        cursor.execute("DELETE FROM studies_trial WHERE study_id = %s", [study.pk])
        count = cursor.rowcount
    found.delete()
    return count


def _arm_key(row: OutcomeRow) -> tuple:
    return row.arm, row.factors


def _create_arms(study: Study, rows: Sequence[OutcomeRow]) -> dict[tuple, PolicyArm]:
    keys = list(dict.fromkeys(_arm_key(row) for row in rows))
    arms = [
        PolicyArm(study=study, code=f"arm {number}", label=_arm_label(*key)[:120], factors=dict(key[1]))
        for number, key in enumerate(keys, start=1)
    ]
    return dict(zip(keys, PolicyArm.objects.bulk_create(arms), strict=True))


def _arm_label(arm: str, factors: tuple[tuple[str, str], ...]) -> str:
    others = [level for _, level in factors if level != arm]
    return " / ".join([arm, *others])


def _create_conditions(study: Study, rows: Sequence[OutcomeRow]) -> dict[str, Condition]:
    names = list(dict.fromkeys(row.condition for row in rows))
    conditions = [
        Condition(
            study=study,
            order=order,
            label=name or DEFAULT_CONDITION,
            slug=f"{order}-{slugify(name or DEFAULT_CONDITION)[:36]}",
            is_shifted=bool(name) and name.lower() != "nominal",
        )
        for order, name in enumerate(names)
    ]
    return dict(zip(names, Condition.objects.bulk_create(conditions), strict=True))


def _trial(study: Study, row: OutcomeRow, arm: PolicyArm, condition: Condition, now: datetime) -> Trial:
    started_at = row.started_at
    if started_at is not None and timezone.is_naive(started_at):
        started_at = timezone.make_aware(started_at)  # in the lab's time zone
    return Trial(
        study=study,
        arm=arm,
        condition=condition,
        status=Trial.Status.CONFIRMED,
        is_success=row.is_success,
        failure_mode=row.failure_mode,
        furthest_stage=row.furthest_stage,
        duration_s=row.duration_s,
        operator_label=row.operator,
        block_label=row.block,
        started_at=started_at,
        confirmed_at=now,
    )
