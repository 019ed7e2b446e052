"""A broker that takes nothing, frozen or gone: the run is there, says why it waits, and is handed over later."""

from datetime import timedelta

import psutil
import pytest
import redis
from django.utils import timezone

from labapp.runs.models import Run
from labapp.runs.services import run_create, runs_resend
from labapp.services.redis_server import RedisServer
from tests.labapp.runs.counting import Counting


@pytest.fixture
def broker(own_service, monkeypatch, settings):
    """A broker of this test's own, for which nobody waits long."""
    server = own_service(RedisServer)
    settings.REDIS_WAIT_SECONDS = 0.5
    monkeypatch.setenv("CELERY_BROKER_WRITE_URL", server.addresses()["REDIS_URL"])
    return server


@pytest.fixture
def frozen(broker):
    process = psutil.Process(broker.facts["pid"])
    process.suspend()
    yield process
    process.resume()


def queued(capture) -> Run:
    with capture(execute=True):
        run = run_create(kind=Counting.name, params={})
    run.refresh_from_db()
    return run


def waiting_ids(broker) -> int:
    with redis.from_url(broker.addresses()["REDIS_URL"]) as client:
        return sum(client.llen(key) for key in client.keys("*default") if client.type(key) == b"list")


def assert_waits(run: Run) -> None:
    assert (run.status, run.enqueued_at) == (Run.Status.QUEUED, None)
    assert "starts by itself" in run.events.get().message


@pytest.mark.django_db
def test_a_run_made_while_the_broker_is_frozen_is_handed_over_once_it_answers(
    broker, frozen, settings, django_capture_on_commit_callbacks
):
    run = queued(django_capture_on_commit_callbacks)
    assert_waits(run)
    frozen.resume()
    settings.REDIS_WAIT_SECONDS = 30
    assert runs_resend(now=timezone.now() + timedelta(minutes=1)) == [run.pk]
    assert waiting_ids(broker) >= 1


@pytest.mark.django_db
def test_a_run_made_while_the_broker_is_gone_waits_too(broker, django_capture_on_commit_callbacks):
    broker.stop()
    assert_waits(queued(django_capture_on_commit_callbacks))


@pytest.mark.django_db
def test_a_sweep_ends_at_the_first_run_that_is_not_taken(broker, caplog):
    broker.stop()
    for _ in range(3):
        run_create(kind=Counting.name, params={})
    assert runs_resend(now=timezone.now() + timedelta(minutes=1)) == []
    assert sum("waits for the broker" in record.message for record in caplog.records) == 1
