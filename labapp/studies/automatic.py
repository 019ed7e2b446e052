"""The auto-operator: runs a locked study's trials on the connected agent and confirms what the referee proposes.

Every trial it confirms is marked as automatic. It never decides by itself: a trial that the agent reports as invalid is
marked invalid and repeated; a trial that the agent never reports stays as it is until the wait is over.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from uuid import uuid4

from django.utils import timezone

from labapp.accounts.models import User
from labapp.cells.agents import agent_for
from labapp.cells.models import Agent
from labapp.studies.dispatch import study_changed, trial_dispatch
from labapp.studies.models import Stage, Study, Trial
from labapp.studies.selectors import slot_next, slots_open, trial_unfinished
from labapp.studies.trials import Outcome, TrialConflict, trial_confirm, trial_invalidate, trial_start

logger = logging.getLogger(__name__)

POLL_S = 0.1
AGENT_WAIT_S = 300.0
SILENCE_S = 600.0
MAX_INVALID_IN_A_ROW = 5


class AutoOperatorError(RuntimeError):
    """The study cannot go on by itself; the message says why."""


@dataclass
class Tally:
    """What the auto-operator has done so far."""

    wanted: int
    confirmed: int = 0
    successes: int = 0
    invalid: int = 0


@dataclass(frozen=True)
class Patience:
    """How long to wait: for an agent to connect, and for a trial's report."""

    agent_s: float = AGENT_WAIT_S
    report_s: float = SILENCE_S
    poll_s: float = POLL_S


def auto_operate(
    study: Study,
    *,
    slots: int | None = None,
    actor: User | None = None,
    on_progress: Callable[[Tally], None] = lambda tally: None,
    patience: Patience = Patience(),
) -> Tally:
    """Run the next ``slots`` open slots (all of them without a number) and confirm the proposals.

    Raises:
        AutoOperatorError: no agent came, a trial was never reported, or trial after trial is invalid.
    """
    tally = Tally(wanted=slots if slots is not None else slots_open(study).count())
    invalid_in_a_row = 0
    while slots is None or tally.confirmed < slots:
        trial = trial_unfinished(study) or start_next(study, actor, patience)
        if trial is None:
            break
        if not trial.is_automatic:
            raise AutoOperatorError(f"{trial.slot} was started by an operator and is not scored yet.")
        trial = wait_for_report(trial, patience)
        is_valid = settle(trial, actor, tally)
        invalid_in_a_row = 0 if is_valid else invalid_in_a_row + 1
        if invalid_in_a_row >= MAX_INVALID_IN_A_ROW:
            reason = Trial.objects.get(pk=trial.pk).invalid_reason
            raise AutoOperatorError(f"{invalid_in_a_row} trials in a row were invalid; the last one: {reason}")
        on_progress(tally)
    return tally


def start_next(study: Study, actor: User | None, patience: Patience) -> Trial | None:
    """Start the next slot on the connected agent; None when nothing is left."""
    if slot_next(study) is None:
        return None
    agent = wait_for_agent(study, patience)
    try:
        trial = trial_start(
            trial_id=uuid4(), study=study, operator=actor, agent=agent, is_automatic=True, now=timezone.now()
        )
    except TrialConflict:
        return trial_unfinished(study)
    trial_dispatch(Trial.objects.select_related("study__cell", "slot__object", "arm__checkpoint").get(pk=trial.pk))
    return trial


def wait_for_agent(study: Study, patience: Patience) -> Agent:
    deadline = time.monotonic() + patience.agent_s
    while (agent := agent_for(study.cell, timezone.now())) is None:
        if time.monotonic() > deadline:
            raise AutoOperatorError(f"No agent connected to {study.cell} within {patience.agent_s:g} s.")
        time.sleep(patience.poll_s)
    return agent


def wait_for_report(trial: Trial, patience: Patience) -> Trial:
    """Wait until the agent has reported, or somebody settled the trial; an agent that is away is waited for."""
    deadline = time.monotonic() + patience.report_s
    while True:
        found = Trial.objects.select_related("study__cell", "slot").get(pk=trial.pk)
        if found.status != Trial.Status.RUNNING:
            return found
        if time.monotonic() > deadline:
            raise AutoOperatorError(f"{found.slot} was not reported within {patience.report_s:g} s.")
        time.sleep(patience.poll_s)


def settle(trial: Trial, actor: User | None, tally: Tally) -> bool:
    """Confirm the proposal as it is, or mark invalid what the agent could not run; whether the trial counts."""
    if trial.status != Trial.Status.PROPOSED:
        return trial.status == Trial.Status.CONFIRMED
    proposal, now = trial.proposal or {}, timezone.now()
    reason = proposal.get("invalid_reason") or ""
    try:
        if reason:
            trial_invalidate(trial=trial, reason=reason, version=trial.version, actor=actor, now=now)
            tally.invalid += 1
        else:
            trial_confirm(trial=trial, outcome=proposed_outcome(proposal), version=trial.version, actor=actor, now=now)
            tally.confirmed += 1
            tally.successes += bool(proposal.get("success"))
    except TrialConflict:
        logger.info("%s was settled by somebody else", trial)
    study_changed(trial.study)
    return not reason


def proposed_outcome(proposal: dict) -> Outcome:
    is_success = bool(proposal.get("success"))
    return Outcome(
        is_success=is_success,
        furthest_stage=Stage.PLACED if is_success else proposal.get("furthest_stage") or Stage.APPROACH,
        failure_mode="" if is_success else proposal.get("failure_mode") or "timeout",
        note=proposal.get("note", ""),
    )
