"""The life of a run: created on commit, claimed once, kept by heartbeats, cancelled, lost, retried."""

import uuid
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from labapp.celery import app
from labapp.runs.kinds import RunError
from labapp.runs.models import Run, RunMetric
from labapp.runs.services import (
    LogLine,
    RunStateError,
    Verdict,
    events_append,
    lease,
    run_cancel,
    run_claim,
    run_create,
    run_enqueue,
    run_finish,
    run_heartbeat,
    run_release,
    run_retry,
    runs_mark_lost,
    runs_resend,
)
from tests.labapp.runs.counting import Counting

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    return run_create(kind=Counting.name, params={"n": 2})


def claim(run: Run) -> Run:
    return run_claim(run_id=run.pk, worker="here:1", now=timezone.now())


def queue_length() -> int:
    with app.connection_for_write() as connection:
        return connection.default_channel.client.llen("default")


def test_a_run_is_sent_to_the_broker_when_the_transaction_commits(django_capture_on_commit_callbacks):
    before = queue_length()
    with django_capture_on_commit_callbacks(execute=True):
        run = run_create(kind=Counting.name, params={})
        assert queue_length() == before
    assert queue_length() == before + 1
    run.refresh_from_db()
    assert run.enqueued_at is not None


@pytest.mark.django_db(transaction=True)
def test_a_rollback_sends_nothing_and_leaves_no_run():
    before = queue_length()
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        run_create(kind=Counting.name, params={})
        raise ZeroDivisionError
    assert (queue_length(), Run.objects.count()) == (before, 0)


def test_an_unknown_kind_is_refused_with_the_known_ones(db):
    with pytest.raises(RunError, match=r"'tests.dance'.*tests\.counting"):
        run_create(kind="tests.dance", params={})


def test_a_run_is_claimed_once(run):
    first = claim(run)
    assert (first.status, first.attempt) == ("running", 1)
    assert claim(run) is None


def test_a_heartbeat_renews_the_lease(run):
    owned = claim(run)
    later = timezone.now() + timedelta(seconds=30)
    assert run_heartbeat(run_id=run.pk, claim=owned.claim, now=later) is Verdict.GO_ON
    run.refresh_from_db()
    assert run.lease_expires_at == later + lease()


def test_a_worker_without_the_claim_learns_that_the_run_is_lost_to_it(run):
    claim(run)
    stranger = uuid.uuid4()
    assert run_heartbeat(run_id=run.pk, claim=stranger, now=timezone.now()) is Verdict.LOST
    assert not run_finish(run_id=run.pk, claim=stranger, status=Run.Status.SUCCEEDED, now=timezone.now())
    run.refresh_from_db()
    assert run.status == "running"


def test_a_silent_worker_loses_the_run_within_two_leases_and_a_retry_takes_it_up(run):
    owned = claim(run)
    assert runs_mark_lost(now=owned.lease_expires_at) == []
    assert runs_mark_lost(now=owned.lease_expires_at + lease()) == [run.pk]
    run.refresh_from_db()
    assert run.status == "lost"
    assert "retry" in run.error
    run_retry(run_id=run.pk, by=None)
    again = claim(run)
    assert again.attempt == 2
    assert again.claim != owned.claim
    assert run_heartbeat(run_id=run.pk, claim=owned.claim, now=timezone.now()) is Verdict.LOST


def test_a_queued_run_is_cancelled_at_once(run, researcher):
    assert run_cancel(run_id=run.pk, by=researcher, now=timezone.now()).status == "cancelled"
    assert claim(run) is None
    assert "Cancelled by researcher." in run.events.last().message


def test_a_running_run_is_asked_to_stop(run):
    owned = claim(run)
    assert run_cancel(run_id=run.pk, by=None, now=timezone.now()).status == "running"
    assert run_heartbeat(run_id=run.pk, claim=owned.claim, now=timezone.now()) is Verdict.CANCEL


def test_a_cancelled_run_whose_worker_is_gone_ends_as_cancelled(run):
    claim(run)
    run_cancel(run_id=run.pk, by=None, now=timezone.now())
    runs_mark_lost(now=timezone.now() + 2 * lease())
    run.refresh_from_db()
    assert run.status == "cancelled"


def test_a_finished_run_is_neither_cancelled_nor_retried(run):
    owned = claim(run)
    run_finish(run_id=run.pk, claim=owned.claim, status=Run.Status.SUCCEEDED, now=timezone.now(), result={"n": 1})
    with pytest.raises(RunStateError, match="already ended"):
        run_cancel(run_id=run.pk, by=None, now=timezone.now())
    with pytest.raises(RunStateError, match="this one is Succeeded"):
        run_retry(run_id=run.pk, by=None)


def test_a_released_run_waits_in_the_queue(run):
    owned = claim(run)
    assert run_release(run_id=run.pk, claim=owned.claim, reason="the worker stops")
    run.refresh_from_db()
    assert (run.status, run.claim, run.enqueued_at) == ("queued", None, None)
    assert claim(run).attempt == 2


def test_a_run_that_the_broker_never_got_is_sent_again(run):
    now = timezone.now()
    assert runs_resend(now=now) == []
    assert runs_resend(now=now + timedelta(seconds=10)) == [run.pk]
    assert runs_resend(now=now + timedelta(seconds=20)) == []
    assert runs_resend(now=now + timedelta(minutes=11)) == [run.pk]


def test_a_broker_that_is_away_leaves_the_run_queued(run):
    url = app.conf.broker_url
    app.conf.broker_url = app.conf.broker_write_url = "redis://127.0.0.1:1/0"
    app.amqp._producer_pool = None
    app._pool = None
    try:
        assert run_enqueue(run_id=run.pk) is False
    finally:
        app.conf.broker_url, app.conf.broker_write_url = url, None
        app.amqp._producer_pool = None
        app._pool = None
    run.refresh_from_db()
    assert (run.status, run.enqueued_at) == ("queued", None)


def test_lines_of_the_log_are_numbered_without_gaps(run):
    events_append(run_id=run.pk, lines=[LogLine("info", "a"), LogLine("info", "b")])
    events_append(run_id=run.pk, lines=[LogLine("error", "c")])
    assert list(run.events.values_list("seq", "message")) == [(1, "a"), (2, "b"), (3, "c")]


@pytest.mark.parametrize(
    "wrong",
    [
        {"status": "running"},
        {"status": "succeeded"},
        {"status": "queued", "finished_at": timezone.now()},
        {"progress_done": -1},
    ],
)
def test_the_database_refuses_impossible_runs(wrong):
    with pytest.raises(IntegrityError), transaction.atomic():
        Run.objects.create(kind="x", title="x", **wrong)


@pytest.mark.parametrize("wrong", [{"value": None, "flag": ""}, {"value": 1.0, "flag": "nan"}])
def test_a_metric_has_a_value_or_a_flag(run, wrong):
    with pytest.raises(IntegrityError), transaction.atomic():
        RunMetric.objects.create(run=run, step=1, name="loss", **wrong)
