"""Every change of a run's state. Each is one conditional UPDATE, so of two that compete exactly one wins."""

import logging
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from itertools import takewhile
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from labapp.accounts.models import User
from labapp.celery import BrokerSilent, send
from labapp.runs.events import clean_json, clean_text
from labapp.runs.kinds import get_kind
from labapp.runs.models import Run, RunEvent
from labapp.runs.publish import publish_run

logger = logging.getLogger(__name__)
RESEND_AFTER = timedelta(minutes=10)


class RunStateError(ValueError):
    """The run is not in a state in which this can be done."""


@dataclass(frozen=True)
class LogLine:
    level: str
    message: str


class Verdict(Enum):
    """What a worker learns when it renews its lease."""

    GO_ON = "go on"
    CANCEL = "cancel"
    LOST = "lost"


def run_create(*, kind: str, params: dict[str, Any], title: str = "", created_by: User | None = None) -> Run:
    """A queued run; its id is sent to the broker when, and only if, the surrounding transaction commits."""
    found = get_kind(kind)
    run = Run.objects.create(
        kind=kind, title=title or found.label, queue=found.queue, params=clean_json(params), created_by=created_by
    )
    transaction.on_commit(lambda: _offer(run.pk))
    return run


def run_enqueue(*, run_id: int) -> bool:
    """Hand the id to the broker. During an outage the run stays queued and the sweeper tries again."""
    run = Run.objects.get(pk=run_id)
    try:
        send("runs.execute", run.pk, queue=run.queue)
    except BrokerSilent as error:
        logger.warning("Run %s waits for the broker: %s", run.pk, error)
        return False
    Run.objects.filter(pk=run.pk, status=Run.Status.QUEUED).update(enqueued_at=timezone.now())
    publish_run(run.pk)
    return True


def run_claim(*, run_id: int, worker: str, now: datetime) -> Run | None:
    """Take a queued run. None: somebody else has it, or it is finished (a second delivery ends here)."""
    claim = uuid.uuid4()
    taken = Run.objects.filter(pk=run_id, status=Run.Status.QUEUED).update(
        status=Run.Status.RUNNING,
        claim=claim,
        worker=worker,
        attempt=F("attempt") + 1,
        started_at=now,
        heartbeat_at=now,
        lease_expires_at=now + lease(),
        error="",
        error_field="",
        result=None,
    )
    if not taken:
        return None
    run = Run.objects.get(pk=run_id)
    events_append(run_id=run_id, lines=[LogLine("info", f"Attempt {run.attempt} started on {worker}.")])
    publish_run(run_id)
    return run


def run_heartbeat(*, run_id: int, claim: uuid.UUID, now: datetime) -> Verdict:
    """Renew the lease, and learn whether to go on."""
    mine = Run.objects.filter(pk=run_id, claim=claim, status=Run.Status.RUNNING)
    if not mine.update(heartbeat_at=now, lease_expires_at=now + lease()):
        return Verdict.LOST
    is_cancelled = mine.filter(cancel_requested_at__isnull=False).exists()
    return Verdict.CANCEL if is_cancelled else Verdict.GO_ON


def run_finish(
    *,
    run_id: int,
    claim: uuid.UUID,
    status: Run.Status,
    now: datetime,
    result: dict[str, Any] | None = None,
    error: str = "",
    error_field: str = "",
) -> bool:
    """End a run that the claim still owns; False when it was taken away meanwhile."""
    with transaction.atomic():
        done = Run.objects.filter(pk=run_id, claim=claim, status=Run.Status.RUNNING).update(
            status=status,
            finished_at=now,
            lease_expires_at=None,
            result=clean_json(result),
            error=clean_text(error),
            error_field=error_field,
        )
        if done:
            _note_end(run_id, status, error)
    return bool(done)


def run_release(*, run_id: int, claim: uuid.UUID, reason: str) -> bool:
    """Give a run back to the queue (its worker stops); the next attempt resumes it."""
    with transaction.atomic():
        done = Run.objects.filter(pk=run_id, claim=claim, status=Run.Status.RUNNING).update(
            status=Run.Status.QUEUED, claim=None, lease_expires_at=None, enqueued_at=None
        )
        if done:
            events_append(run_id=run_id, lines=[LogLine("warning", reason)])
            transaction.on_commit(lambda: publish_run(run_id))
    return bool(done)


def run_cancel(*, run_id: int, by: User | None, now: datetime) -> Run:
    """Cancel at once while queued; a running one is asked, and its worker ends the whole process group."""
    with transaction.atomic():
        who = f"Cancelled by {by}." if by else "Cancelled."
        runs = Run.objects.filter(pk=run_id)
        if runs.filter(status=Run.Status.QUEUED).update(
            status=Run.Status.CANCELLED, finished_at=now, cancel_requested_at=now
        ):
            _note_end(run_id, Run.Status.CANCELLED, who)
        elif runs.filter(status=Run.Status.RUNNING).update(cancel_requested_at=now):
            events_append(run_id=run_id, lines=[LogLine("warning", f"{who} Stopping its processes.")])
            transaction.on_commit(lambda: publish_run(run_id))
        else:
            raise RunStateError(f"This run has already ended ({runs.get().get_status_display()}).")
    return runs.get()


def run_retry(*, run_id: int, by: User | None) -> Run:
    """Queue a failed, cancelled or lost run again; it goes on from its last shard or checkpoint."""
    with transaction.atomic():
        runs = Run.objects.filter(pk=run_id)
        if not runs.filter(status__in=Run.RETRYABLE).update(
            status=Run.Status.QUEUED,
            finished_at=None,
            claim=None,
            lease_expires_at=None,
            cancel_requested_at=None,
            enqueued_at=None,
            error="",
            error_field="",
        ):
            raise RunStateError(f"Only a run that failed, was cancelled or lost can be retried; {_state_of(runs)}.")
        events_append(run_id=run_id, lines=[LogLine("info", f"Retried by {by}." if by else "Retried.")])
        transaction.on_commit(lambda: _offer(run_id))
    return runs.get()


def runs_mark_lost(*, now: datetime) -> list[int]:
    """End the runs whose worker has not renewed its lease; returns their ids."""
    ended = []
    expired = Run.objects.filter(status=Run.Status.RUNNING, lease_expires_at__lt=now)
    for run_id, claim, cancelled_at in expired.values_list("pk", "claim", "cancel_requested_at"):
        status = Run.Status.CANCELLED if cancelled_at else Run.Status.LOST
        error = "" if cancelled_at else "The worker stopped answering. A retry goes on from the last saved state."
        with transaction.atomic():
            still_expired = expired.filter(pk=run_id, claim=claim)
            if still_expired.update(status=status, finished_at=now, lease_expires_at=None, error=error):
                _note_end(run_id, status, error)
                ended.append(run_id)
    return ended


def runs_resend(*, now: datetime, resend_all: bool = False) -> list[int]:
    """Send queued runs to the broker that it never got, or got so long ago that it may have lost them.

    The first that it does not take ends the round; returns the ids of those that it took.
    """
    waiting = Run.objects.filter(status=Run.Status.QUEUED)
    if not resend_all:
        never = waiting.filter(enqueued_at__isnull=True, created_at__lt=now - timedelta(seconds=5))
        waiting = never | waiting.filter(enqueued_at__lt=now - RESEND_AFTER)
    ids = waiting.order_by("pk").values_list("pk", flat=True)
    return list(takewhile(lambda run_id: run_enqueue(run_id=run_id), ids))


def events_append(*, run_id: int, lines: Sequence[LogLine]) -> list[RunEvent]:
    """Number the lines without gaps, whoever writes them: the UPDATE holds the run's row until the commit."""
    if not lines:
        return []
    with transaction.atomic():
        Run.objects.filter(pk=run_id).update(event_count=F("event_count") + len(lines))
        last = Run.objects.values_list("event_count", flat=True).get(pk=run_id)
        first = last - len(lines) + 1
        rows = [
            RunEvent(run_id=run_id, seq=first + i, level=line.level, message=line.message)
            for i, line in enumerate(lines)
        ]
        return RunEvent.objects.bulk_create(rows)


def lease() -> timedelta:
    return timedelta(seconds=settings.RUN_LEASE_SECONDS)


def _offer(run_id: int) -> None:
    """To the broker; where it is silent the run's log tells whoever waits for the run."""
    if not run_enqueue(run_id=run_id):
        reason = "The queue (Redis) does not answer. The run waits, and starts by itself once it does."
        events_append(run_id=run_id, lines=[LogLine("warning", reason)])


def _state_of(runs: Any) -> str:
    return f"this one is {runs.get().get_status_display()}"


def _note_end(run_id: int, status: Run.Status, error: str) -> None:
    level = "info" if status == Run.Status.SUCCEEDED else "warning"
    text = f"{status.label.capitalize()}. {error}" if error else f"{status.label.capitalize()}."
    events_append(run_id=run_id, lines=[LogLine(level, clean_text(text))])
    transaction.on_commit(lambda: publish_run(run_id))
