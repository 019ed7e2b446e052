"""What the operator console shows: codes and settings, never a policy. Everything here may reach an operator."""

from datetime import datetime
from typing import Any

from labapp.accounts.models import User
from labapp.live.agents import agent_for
from labapp.studies.models import FailureMode, Stage, Study, Trial, TrialSlot
from labapp.studies.selectors import session_open, slot_next, study_progress, trial_unfinished
from labapp.studies.trials import UNDO_WINDOW
from robots.cell.initial import instruction


def console_state(study: Study, user: User, now: datetime) -> dict[str, Any]:
    """The whole state of a console; pages fetch it again whenever something changed."""
    unfinished = trial_unfinished(study)
    agent = agent_for(study.cell, now)
    return {
        "study": study_facts(study),
        "progress": study_progress(study),
        "next": slot_facts(slot_next(study)) if study.status == Study.Status.LOCKED else None,
        "trial": trial_facts(unfinished) if unfinished else None,
        "last": last_facts(study, user, now),
        "session": session_facts(study),
        "agent": {"is_connected": agent is not None, "name": agent.name if agent else ""},
        "now": now,
    }


def session_facts(study: Study) -> dict[str, Any] | None:
    """Who is at the rig now."""
    session = session_open(study)
    return {"id": session.pk, "operator": session.operator.get_username()} if session else None


def study_facts(study: Study) -> dict[str, Any]:
    return {
        "slug": study.slug,
        "name": study.name,
        "status": study.status,
        "time_limit_s": study.time_limit_s,
        "is_simulated": study.is_simulated,
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


def last_facts(study: Study, user: User, now: datetime) -> dict[str, Any] | None:
    """The trial scored last, while its confirmation can still be taken back."""
    scored = study.trials.filter(status=Trial.Status.CONFIRMED, confirmed_at__gt=now - UNDO_WINDOW, is_automatic=False)
    trial = scored.select_related("slot__arm", "slot__condition", "slot__object").order_by("-confirmed_at").first()
    if trial is None:
        return None
    return trial_facts(trial) | {"undo_until": trial.confirmed_at + UNDO_WINDOW}


def console_choices() -> dict[str, Any]:
    """Keys and words of the outcome buttons."""
    modes = zip("1234567", FailureMode.choices, strict=True)
    stages = zip("qwerty", Stage.choices, strict=True)
    return {
        "failure_modes": [{"key": key, "value": value, "label": label} for key, (value, label) in modes],
        "stages": [{"key": key, "value": value, "label": label} for key, (value, label) in stages],
    }
