"""Bad luck with real processes: a killed worker, a broker or an object store that is away for a while."""

import os
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import psutil
import pytest
from django.conf import settings
from django.utils import timezone

from labapp import storage
from labapp.runs.models import Run
from labapp.runs.services import lease, run_retry, runs_mark_lost
from labapp.services.object_store import ObjectStoreServer
from labapp.services.redis_server import RedisServer
from labapp.settings.backends import object_store

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).resolve().parents[2]
OUTAGE = "held-2 held-4"  # the outage begins before number 2 and ends before number 4


def out_of(run: Run) -> Path:
    return Path(settings.RUNS_DIR) / str(run.pk) / "out"


def status_of(run: Run) -> str:
    return Run.objects.values_list("status", flat=True).get(pk=run.pk)


def send_all(environ: dict[str, str]) -> None:
    """The sweeper of that environment hands every queued run to its broker."""
    subprocess.run([sys.executable, "manage.py", "sweep_runs"], cwd=ROOT, env=environ, check=True, capture_output=True)


def made_numbers(run: Run) -> list[int]:
    return [int(word) for word in (out_of(run) / "made.log").read_text().split()]


def go_on(run: Run, number: int) -> None:
    """Let a held command make this number and those after it."""
    (out_of(run) / f"go-{number}").touch()


def group_of(run: Run) -> int | None:
    path = out_of(run).parent / ".group"
    return int(path.read_text() or 0) if path.exists() else None


def test_a_worker_killed_mid_run_loses_the_run_and_a_retry_completes_it_without_duplicates(
    make_run, start_worker, eventually
):
    run = make_run(n=6, extra="grandchild held-3")
    worker = start_worker()
    eventually((out_of(run) / "shard-002.txt").exists)
    group = eventually(lambda: group_of(run))
    os.kill(worker.pid, signal.SIGKILL)
    worker.wait()
    run.refresh_from_db()
    assert run.lease_expires_at <= timezone.now() + lease(), "what is looked for every lease is lost within two"
    assert runs_mark_lost(now=run.lease_expires_at + timedelta(milliseconds=1)) == [run.pk]
    assert status_of(run) == "lost"
    eventually(lambda: not psutil.pid_exists(group))

    Run.objects.filter(pk=run.pk).update(params={"n": 6})
    run_retry(run_id=run.pk, by=None)
    start_worker()
    eventually(lambda: status_of(run) == "succeeded")
    assert made_numbers(run) == list(range(6))
    assert run.artifacts.count() == 6


def test_a_worker_asked_to_stop_hands_its_run_back(make_run, start_worker, eventually):
    run = make_run(n=6, extra="held-2")
    worker = start_worker()
    eventually((out_of(run) / "shard-001.txt").exists)
    worker.terminate()
    assert worker.wait(60) == 0
    run.refresh_from_db()
    assert (run.status, run.claim) == ("queued", None)


def outage_of_redis(seconds, run, next_run, own_service, start_worker, service_environ, eventually):
    """The broker is away while a run works; the run ends well, and the worker takes the next one."""
    server = own_service(RedisServer)
    environ = service_environ | server.addresses()
    send_all(environ)
    start_worker(**server.addresses())
    eventually((out_of(run) / "shard-001.txt").exists)
    server.stop()
    go_on(run, 2)
    eventually((out_of(run) / "shard-003.txt").exists)
    time.sleep(seconds)
    assert status_of(run) == "running"
    server.start(lambda line: None)
    go_on(run, 4)
    eventually(lambda: status_of(run) == "succeeded")
    assert made_numbers(run) == list(range(run.params["n"]))
    Run.objects.filter(pk=next_run.pk).update(enqueued_at=None)
    send_all(environ)
    eventually(lambda: status_of(next_run) == "succeeded")


def outage_of_store(seconds, run, own_service, start_worker, settings, eventually):
    """The object store is away while shards are being made: all of them arrive."""
    server = own_service(ObjectStoreServer)
    start_worker(**server.addresses())
    eventually(lambda: run.artifacts.count() == 2)
    server.stop()
    go_on(run, 2)
    eventually((out_of(run) / "shard-003.txt").exists)
    time.sleep(seconds)
    assert run.artifacts.count() == 2
    server.start(lambda line: None)
    go_on(run, 4)
    eventually(lambda: status_of(run) == "succeeded")
    assert run.artifacts.count() == run.params["n"]
    settings.OBJECT_STORE = object_store(server.addresses())
    assert storage.get_bytes(f"runs/{run.pk}/shard-005.txt") == b"number 5"


def test_redis_away_for_3_seconds_is_waited_for(make_run, own_service, start_worker, service_environ, eventually):
    run, next_run = make_run(n=6, extra=OUTAGE), make_run(n=1)
    outage_of_redis(3, run, next_run, own_service, start_worker, service_environ, eventually)


def test_the_object_store_away_for_3_seconds_is_waited_for(make_run, own_service, start_worker, settings, eventually):
    outage_of_store(3, make_run(n=6, extra=OUTAGE), own_service, start_worker, settings, eventually)


@pytest.mark.slow
def test_redis_away_for_10_seconds_is_waited_for(make_run, own_service, start_worker, service_environ, eventually):
    run, next_run = make_run(n=6, extra=OUTAGE), make_run(n=1)
    outage_of_redis(10, run, next_run, own_service, start_worker, service_environ, eventually)


@pytest.mark.slow
def test_a_run_ends_while_redis_is_frozen_and_the_worker_takes_the_next_one_after(
    make_run, own_service, start_worker, service_environ, eventually
):
    run, server = make_run(n=4, extra="held-2"), own_service(RedisServer)
    environ = service_environ | server.addresses()
    send_all(environ)
    start_worker(**server.addresses(), REDIS_WAIT_SECONDS="1")
    eventually((out_of(run) / "shard-001.txt").exists)
    frozen = psutil.Process(server.facts["pid"])
    frozen.suspend()
    try:
        go_on(run, 2)
        eventually(lambda: status_of(run) == "succeeded")
    finally:
        frozen.resume()
    next_run = make_run(n=1)
    Run.objects.filter(pk=next_run.pk).update(enqueued_at=None)
    send_all(environ)
    eventually(lambda: status_of(next_run) == "succeeded")


@pytest.mark.slow
def test_the_object_store_away_for_10_seconds_is_waited_for(make_run, own_service, start_worker, settings, eventually):
    outage_of_store(10, make_run(n=6, extra=OUTAGE), own_service, start_worker, settings, eventually)
