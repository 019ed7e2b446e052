"""Trials on their way to the agent and back: start, cancel, events, proposal."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.urls import reverse

from labapp.cells.models import Agent
from labapp.live.agents import send_to_agent, tell_viewers
from labapp.live.models import TrialEvent as TrialEventRow
from labapp.policies.models import Checkpoint
from labapp.studies.models import Study, Trial
from labapp.studies.selectors import slots_open
from labapp.studies.trials import trial_propose
from robots.agent.protocol import CheckpointRef, Proposal, TrialCancel, TrialEvent, TrialPrepare, TrialStart
from robots.cell.initial import instruction


def start_message(trial: Trial) -> TrialStart:
    """What the agent needs to run a trial; the policy is only a hash."""
    slot = trial.slot
    return TrialStart(
        trial=str(trial.pk),
        code=trial.arm.code,
        checkpoint=checkpoint_ref(trial.arm.checkpoint),
        condition=trial.condition.slug,
        object=slot.object.name,
        belt_speed=slot.belt_speed,
        bin=slot.bin,
        light=trial.condition.light,
        instruction=instruction(slot.object.name, slot.bin),
        seed=slot.seed,
        time_limit_s=trial.study.time_limit_s,
    )


def checkpoint_ref(checkpoint: Checkpoint) -> CheckpointRef:
    return CheckpointRef(sha256=checkpoint.sha256, url=reverse("api:agent-checkpoint", args=[checkpoint.sha256]))


def trial_dispatch(trial: Trial) -> None:
    """Send a started trial to its agent, and tell it which checkpoint comes after."""
    if trial.agent_id is None:
        return
    send_to_agent(trial.agent_id, start_message(trial))
    if (following := next_checkpoint(trial.study, after=trial)) is not None:
        send_to_agent(trial.agent_id, TrialPrepare(checkpoint_ref(following)))
    study_changed(trial.study)


def next_checkpoint(study: Study, after: Trial) -> Checkpoint | None:
    slot = slots_open(study).exclude(pk=after.slot_id).select_related("arm__checkpoint").first()
    return slot.arm.checkpoint if slot is not None else None


def trial_recall(trial: Trial, reason: str) -> None:
    """Ask the agent to end a trial that is not wanted any more."""
    if trial.agent_id is not None:
        send_to_agent(trial.agent_id, TrialCancel(trial=str(trial.pk), reason=reason))


def study_changed(study: Study) -> None:
    """Consoles of this study fetch their state again."""
    if study.cell is not None:
        tell_viewers(study.cell.slug, {"type": "changed", "study": study.slug})


def trials_pending(agent: Agent) -> list[Trial]:
    """Trials that this agent was given and has not reported on."""
    return list(
        Trial.objects.filter(agent=agent, status=Trial.Status.RUNNING, proposal__isnull=True).select_related(
            "study", "slot__object", "arm__checkpoint", "condition"
        )
    )


def events_store(*, trial_id: UUID, events: Iterable[TrialEvent]) -> int:
    """Keep the events that are not known yet; returns how many are stored for the trial."""
    rows = [
        TrialEventRow(
            id=UUID(e.event), trial_id=trial_id, sequence=e.sequence, kind=e.kind, time_s=e.time_s, payload=e.payload
        )
        for e in events
    ]
    TrialEventRow.objects.bulk_create(rows, ignore_conflicts=True)
    return TrialEventRow.objects.filter(trial_id=trial_id).count()


@transaction.atomic
def trial_report(*, trial: Trial, proposal: Proposal, events: Iterable[TrialEvent], now: datetime) -> Trial:
    """Store what the agent reports at the end of a trial: its events and the referee's proposal. Harmless twice."""
    events_store(trial_id=trial.pk, events=events)
    is_known = trial.proposal is not None
    reported = trial_propose(
        trial_id=trial.pk,
        proposal=proposal.as_json(),
        now=now,
        duration_s=proposal.time_s,
        latency_ms=proposal.latency_ms,
    )
    if not is_known:
        study_changed(trial.study)
    return reported


def viewer_event(event: TrialEvent) -> dict[str, Any] | None:
    """What a page may know of a running trial: that it started or ended.

    Stages are how it looks to the referee, and the operator scores first: not even that there was one is told.
    """
    if event.kind == "stage":
        return None
    return {"type": "trial", "trial": event.trial, "kind": event.kind, "time_s": event.time_s}
