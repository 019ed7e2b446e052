"""The life of a trial: start, proposal, confirmation, undo, correction, invalidation.

Every change raises ``version`` and keeps the old values in a revision; a change that names a version already passed is
refused, so two devices cannot overwrite each other. The client chooses the trial's UUID, so a replay is harmless.
"""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Max

from labapp.accounts.models import User
from labapp.cells.models import Agent
from labapp.studies.browser.blinding import check_text
from labapp.studies.models import FailureMode, OperatorSession, Stage, Study, Trial, TrialRevision, TrialSlot
from labapp.studies.selectors import UNFINISHED, session_is_over, slot_next, trial_running_at, trial_unfinished

UNDO_WINDOW = timedelta(seconds=10)
SCORED = (Trial.Status.CONFIRMED,)
SLOT_FACTS = ("slot__arm", "slot__condition", "slot__object")
OUTCOME_FIELDS = ("status", "is_success", "furthest_stage", "failure_mode", "note", "invalid_reason")


class TrialConflict(Exception):
    """Somebody else changed or started it first; the message says what is there now."""


@dataclass(frozen=True)
class Outcome:
    """What an operator scores: success, or how it failed.

    Raises:
        ValidationError: keyed by field, when the parts contradict each other.
    """

    is_success: bool
    furthest_stage: str
    failure_mode: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        if self.furthest_stage not in Stage.values:
            raise ValidationError({"furthest_stage": f"Choose one of {', '.join(Stage.values)}."})
        if self.is_success and self.failure_mode:
            raise ValidationError({"failure_mode": "A success reached “placed” and has no failure mode."})
        if self.is_success and self.furthest_stage != Stage.PLACED:
            raise ValidationError({"furthest_stage": "A success reached “placed”: choose that stage, or a failure."})
        if not self.is_success and self.failure_mode not in FailureMode.values:
            raise ValidationError({"failure_mode": f"A failure needs one of {', '.join(FailureMode.values)}."})


@transaction.atomic
def trial_start(
    *,
    trial_id: UUID,
    study: Study,
    now: datetime,
    operator: User | None,
    slot: TrialSlot | None = None,
    agent: Agent | None = None,
    session: OperatorSession | None = None,
    is_automatic: bool = False,
) -> Trial:
    """Start the next slot's trial (or the one given, which must be next). Called twice with one UUID, it starts once.

    Raises:
        ValidationError: the study is not locked, or has nothing left to run.
        TrialConflict: another trial is unfinished, the slot was taken meanwhile, or the session is over.
    """
    study = Study.objects.select_for_update(of=("self",)).select_related("cell").get(pk=study.pk)
    if existing := Trial.objects.filter(pk=trial_id, study=study).first():
        return existing
    _check_ready(study, session, now)
    expected = slot_next(study)
    if expected is None:
        raise ValidationError("Every planned trial has been run.")
    if slot is not None and slot.pk != expected.pk:
        raise TrialConflict(f"{slot} is not next: {expected} is.")
    try:
        with transaction.atomic():
            return Trial.objects.create(
                id=trial_id,
                study=study,
                slot=expected,
                arm=expected.arm,
                condition=expected.condition,
                operator=operator,
                agent=agent,
                session=session,
                is_automatic=is_automatic,
                started_at=now,
            )
    except IntegrityError as error:
        raise TrialConflict(f"{expected} was started by someone else.") from error


def _check_ready(study: Study, session: OperatorSession | None, now: datetime) -> None:
    """Raises what `trial_start` raises where the study, the rig or the session takes no trial now."""
    if study.status != Study.Status.LOCKED:
        raise ValidationError(f"Trials run only in a locked study; this one is {study.get_status_display()}.")
    if session is not None and OperatorSession.objects.filter(session_is_over(now), pk=session.pk).exists():
        raise TrialConflict("Your session was ended, here, by whoever took over, or after its eight hours: begin anew.")
    if unfinished := trial_unfinished(study):
        raise TrialConflict(f"{unfinished.slot} is {unfinished.get_status_display()}: finish it first.")
    if other := trial_running_at(study):
        raise TrialConflict(
            f"{other.slot} of “{other.study}” is running at this cell: wait for its end, or end it there."
        )


@transaction.atomic
def trial_propose(
    *, trial_id: UUID, proposal: dict, now: datetime, duration_s: float | None = None, latency_ms: float | None = None
) -> Trial:
    """Store what the referee proposes. A replay, or a proposal after the operator decided, changes no outcome.

    It leaves ``version`` alone: an operator who scored while the proposal was under way is not refused.
    """
    trial = Trial.objects.select_for_update().get(pk=trial_id)
    if trial.proposal is None:
        trial.proposal, trial.duration_s, trial.latency_ms, trial.ended_at = proposal, duration_s, latency_ms, now
        if trial.status == Trial.Status.RUNNING:
            trial.status = Trial.Status.PROPOSED
        trial.save(update_fields=["proposal", "duration_s", "latency_ms", "ended_at", "status"])
    return trial


def trial_confirm(*, trial: Trial, outcome: Outcome, version: int, actor: User | None, now: datetime) -> Trial:
    """Score a trial that waits for its outcome. The proposal is never a default: the outcome is always given.

    Raises:
        TrialConflict: already scored, or changed since ``version``.
    """
    values = {**asdict(outcome), "status": Trial.Status.CONFIRMED}
    return _change(
        trial,
        version,
        TrialRevision.Kind.CONFIRMED,
        values,
        allowed=UNFINISHED,
        actor=actor,
        now=now,
        confirmed_at=now,
    )


def trial_undo(*, trial: Trial, version: int, actor: User | None, now: datetime) -> Trial:
    """Take back a confirmation, at most ten seconds after it.

    Raises:
        ValidationError: too late, or imported; a correction with a reason is the way then.
        TrialConflict: not confirmed, changed since ``version``, or the next trial has begun.
    """
    if trial.study.is_imported:
        raise ValidationError("An imported outcome was not scored here: correct the trial with a reason instead.")
    if (unfinished := trial_unfinished(trial.study)) is not None and unfinished.pk != trial.pk:
        raise TrialConflict(f"{unfinished.slot} has begun: finish it, then correct this one with a reason.")
    if trial.confirmed_at is None or now - trial.confirmed_at > UNDO_WINDOW:
        raise ValidationError(
            "Undo is possible for ten seconds after scoring: correct the trial with a reason instead."
        )
    cleared = {
        "status": Trial.Status.PROPOSED,
        "is_success": None,
        "furthest_stage": "",
        "failure_mode": "",
        "note": "",
    }
    kind = TrialRevision.Kind.UNDONE
    return _change(trial, version, kind, cleared, allowed=SCORED, actor=actor, now=now, confirmed_at=None)


def trial_correct(*, trial: Trial, outcome: Outcome, reason: str, version: int, actor: User, now: datetime) -> Trial:
    """Change a confirmed outcome; the old one is kept with the reason."""
    if not reason.strip():
        raise ValidationError({"reason": "Say why the outcome is corrected; the old one is kept beside it."})
    values = {**asdict(outcome), "status": Trial.Status.CONFIRMED}
    return _change(
        trial,
        version,
        TrialRevision.Kind.CORRECTED,
        values,
        allowed=SCORED,
        actor=actor,
        now=now,
        reason=reason,
        confirmed_at=now,
    )


@transaction.atomic
def trial_invalidate(*, trial: Trial, reason: str, version: int, actor: User | None, now: datetime) -> Trial:
    """Mark a trial invalid (never deleted) and plan its repetition at the end of its block."""
    if not reason.strip():
        raise ValidationError({"reason": "Say why the trial is invalid; it stays in the record and is repeated."})
    values = {
        "status": Trial.Status.INVALID,
        "is_success": None,
        "furthest_stage": "",
        "failure_mode": "",
        "invalid_reason": reason.strip(),
    }
    trial = _change(
        trial,
        version,
        TrialRevision.Kind.INVALIDATED,
        values,
        allowed=UNFINISHED + SCORED,
        actor=actor,
        now=now,
        reason=reason,
    )
    if trial.slot is not None and not hasattr(trial.slot, "rescheduled_as"):
        _reschedule(trial.slot)
    return trial


@transaction.atomic
def _change(
    trial: Trial,
    version: int,
    kind: TrialRevision.Kind,
    values: dict,
    *,
    allowed: tuple[str, ...],
    actor: User | None,
    now: datetime,
    reason: str = "",
    **also: datetime | None,
) -> Trial:
    """Lock the row, check that nobody passed ``version``, and write the change with its revision."""
    for field, text in {"reason": reason, "note": values.get("note", "")}.items():
        if actor is not None and text:
            check_text(trial.study, actor, text, field=field)
    row = Trial.objects.select_for_update(of=("self",)).select_related(*SLOT_FACTS).get(pk=trial.pk)
    if _is_replay(row, version, kind, values):
        return row
    _check_open(row, version, kind, allowed)
    before, before_since = _outcome(row), _since(row)
    if row.status in UNFINISHED:
        row.ended_at = row.ended_at or now  # the agent may have said so since the caller read the trial
    for name, value in {**values, **also}.items():
        setattr(row, name, value)
    row.version += 1
    row.save()
    TrialRevision.objects.create(
        trial=row,
        version=row.version,
        kind=kind,
        before=before,
        after=_outcome(row),
        reason=reason.strip(),
        actor=actor,
        before_since=before_since,
        created_at=now,
    )
    return row


def _check_open(row: Trial, version: int, kind: TrialRevision.Kind, allowed: tuple[str, ...]) -> None:
    """Raises `TrialConflict` where somebody passed ``version``, or a trial of this status takes no such change."""
    name, status = row.slot or "This trial", row.get_status_display()
    if row.version != version:
        raise TrialConflict(
            f"{name} was changed meanwhile: it is {status} (version {row.version}, you saw {version}). "
            "Look at it again."
        )
    if row.status not in allowed:
        raise TrialConflict(f"{name} is {status}: it cannot be {kind} now.")


def _since(row: Trial) -> datetime:
    """When the state began that a change ends: with the last change, else with the import or the start."""
    last = row.revisions.aggregate(at=Max("created_at"))["at"] if row.version > 1 else None
    return last or row.confirmed_at or row.started_at


def _is_replay(row: Trial, version: int, kind: TrialRevision.Kind, values: dict) -> bool:
    """The same change sent again: its revision is the one right after the version that the sender saw."""
    made = row.revisions.filter(version=version + 1, kind=kind).first()
    return made is not None and all(made.after[name] == value for name, value in values.items())


def _outcome(row: Trial) -> dict:
    return {name: getattr(row, name) for name in OUTCOME_FIELDS}


def _reschedule(slot: TrialSlot) -> TrialSlot:
    last = slot.study.slots.aggregate(last=Max("position"))["last"]
    return TrialSlot.objects.create(
        study=slot.study,
        position=last + 1,
        block=slot.block,
        arm=slot.arm,
        condition=slot.condition,
        object=slot.object,
        belt_speed=slot.belt_speed,
        bin=slot.bin,
        seed=slot.seed,
        reschedules=slot,
    )
