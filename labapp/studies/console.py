"""What the operator console shows: codes and settings, never a policy. Everything here may reach an operator."""

from datetime import datetime
from typing import Any

from django.db.models import Q

from labapp.accounts.models import User
from labapp.studies.models import FailureMode, Stage, Study, Trial, TrialSlot
from labapp.studies.selectors import UNFINISHED, slot_next, study_progress
from labapp.studies.trials import UNDO_WINDOW
from robots.cell.initial import instruction


def console_state(study: Study, user: User, now: datetime) -> dict[str, Any]:
    """The whole state of a console, in four queries; pages fetch it again whenever something changed.

    Args:
        study: one of ``selectors.studies_at_rig(now)``.
    """
    unfinished, last = trials_at_hand(study, now)
    return {
        "study": study_facts(study),
        "progress": study_progress(study),
        "next": slot_facts(slot_next(study)) if study.status == Study.Status.LOCKED else None,
        "trial": trial_facts(unfinished) if unfinished else None,
        "last": trial_facts(last) | {"undo_until": last.confirmed_at + UNDO_WINDOW} if last else None,
        "session": session_facts(study),
        "agent": {"is_connected": study.agent_name is not None, "name": study.agent_name or ""},
        "user": user.get_username(),
        "now": now,
    }


def trials_at_hand(study: Study, now: datetime) -> tuple[Trial | None, Trial | None]:
    """The trial under way, and the one scored last while its confirmation can still be taken back."""
    is_last = Q(status=Trial.Status.CONFIRMED, confirmed_at__gt=now - UNDO_WINDOW, is_automatic=False)
    rows = study.trials.filter(Q(status__in=UNFINISHED) | is_last)
    found = list(rows.select_related("slot__arm", "slot__condition", "slot__object").order_by("confirmed_at"))
    scored = [trial for trial in found if trial.status == Trial.Status.CONFIRMED]
    unfinished = next((trial for trial in found if trial.status in UNFINISHED), None)
    return unfinished, scored[-1] if scored else None


def session_facts(study: Study) -> dict[str, Any] | None:
    """Who is at the rig now."""
    if study.session_id is None:
        return None
    return {
        "id": study.session_id,
        "operator": study.session_operator,
        "started_at": study.session_since,
        "device_id": study.session_device,
    }


def study_facts(study: Study) -> dict[str, Any]:
    return {
        "slug": study.slug,
        "name": study.name,
        "status": study.status,
        "time_limit_s": study.time_limit_s,
        "is_simulated": study.is_simulated,
        "is_blinded": study.is_blinded,
        "cell": study.cell.slug if study.cell else "",
    }


def slot_facts(slot: TrialSlot | None) -> dict[str, Any] | None:
    if slot is None:
        return None
    return {
        "id": slot.pk,
        "position": slot.position,
        "block": slot.block,
        "is_repetition": slot.reschedules_id is not None,
        "code": slot.arm.code,
        "condition": slot.condition.label,
        "is_shifted": slot.condition.is_shifted,
        "object": slot.object.label,
        "belt_speed": slot.belt_speed,
        "light": slot.condition.light,
        "bin": slot.bin,
        "instruction": instruction(slot.object.name, slot.bin),
        "reset": reset_steps(slot),
    }


def reset_steps(slot: TrialSlot) -> list[str]:
    """How to set up the cell, in the order of the hands."""
    return [
        f"Empty the belt and both bins; have the {slot.object.label} ready.",
        f"Light: {slot.condition.get_light_display()}.",
        f"Belt: {slot.belt_speed:.2f} m/s.",
        f"Lay the {slot.object.label} on the belt's mark; it belongs in the {slot.bin} bin.",
    ]


def trial_facts(trial: Trial) -> dict[str, Any]:
    """A trial for the console; what the referee proposes is there only once the trial is over."""
    return {
        "id": str(trial.pk),
        "status": trial.status,
        "version": trial.version,
        "started_at": trial.started_at,
        "ended_at": trial.ended_at,
        "is_reported": trial.proposal is not None,
        "proposal": proposal_facts(trial.proposal),
        "is_success": trial.is_success,
        "furthest_stage": trial.furthest_stage,
        "failure_mode": trial.failure_mode,
        "note": trial.note,
        "slot": slot_facts(trial.slot),
    }


def proposal_facts(proposal: dict[str, Any] | None) -> dict[str, Any] | None:
    """Only the parts that an operator scores by."""
    if proposal is None:
        return None
    names = ("success", "failure_mode", "furthest_stage", "time_s", "invalid_reason")
    return {name: proposal.get(name) for name in names}


def console_choices() -> dict[str, Any]:
    """Keys and words of the outcome buttons."""
    modes = zip("1234567", FailureMode.choices, strict=True)
    stages = zip("qwerty", Stage.choices, strict=True)
    return {
        "failure_modes": [{"key": key, "value": value, "label": label} for key, (value, label) in modes],
        "stages": [{"key": key, "value": value, "label": label} for key, (value, label) in stages],
    }
