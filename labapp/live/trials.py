"""Trials on their way back from the agent: what it was given, its events, its report."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from labapp.cells.models import Agent
from labapp.live.models import TrialEvent as TrialEventRow
from labapp.studies.dispatch import study_changed
from labapp.studies.models import Trial
from labapp.studies.trials import trial_propose
from robots.agent.protocol import Proposal, TrialEvent


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
