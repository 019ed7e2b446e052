"""Bad luck with real processes: a killed worker, a broker or an object store that is away for a while."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from django.conf import settings
from django.utils import timezone

from labapp import storage
from labapp.runs.models import Run
from labapp.runs.services import run_retry, runs_mark_lost
from labapp.services.object_store import ObjectStoreServer
from labapp.services.redis_server import RedisServer
from labapp.settings.backends import object_store

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).resolve().parents[2]


def out_of(run: Run) -> Path:
    return Path(settings.RUNS_DIR) / str(run.pk) / "out"


def status_of(run: Run) -> str:
    return Run.objects.values_list("status", flat=True).get(pk=run.pk)


def send_all(environ: dict[str, str]) -> None:
    """The sweeper of that environment hands every queued run to its broker."""
    subprocess.run([sys.executable, "manage.py", "sweep_runs"], cwd=ROOT, env=environ, check=True, capture_output=True)


def made_numbers(run: Run) -> list[int]:
    return [int(word) for word in (out_of(run) / "made.log").read_text().split()]


def test_a_worker_killed_mid_run_loses_the_run_and_a_retry_completes_it_without_duplicates(
    make_run, start_worker, eventually
):
    run = make_run(n=30, pause=0.1, extra="grandchild")
    worker = start_worker()
    eventually((out_of(run) / "shard-003.txt").exists, 40)
    group = int((out_of(run).parent / ".group").read_text())
    os.kill(worker.pid, signal.SIGKILL)
    worker.wait()
    killed_at = time.monotonic()
    eventually(lambda: runs_mark_lost(now=timezone.now()), 2 * settings.RUN_LEASE_SECONDS + 1)
    assert time.monotonic() - killed_at <= 2 * settings.RUN_LEASE_SECONDS + 0.5
    assert status_of(run) == "lost"
    eventually(lambda: not psutil.pid_exists(group), settings.RUN_STOP_GRACE_SECONDS + 3)

    Run.objects.filter(pk=run.pk).update(params={"n": 30, "pause": 0})
    run_retry(run_id=run.pk, by=None)
    start_worker()
    eventually(lambda: status_of(run) == "succeeded", 40)
    assert made_numbers(run) == list(range(30))
    assert run.artifacts.count() == 30


def test_a_worker_asked_to_stop_hands_its_run_back(make_run, start_worker, eventually):
    run = make_run(n=100, pause=0.1)
    worker = start_worker()
    eventually((out_of(run) / "shard-001.txt").exists, 40)
    worker.terminate()
    assert worker.wait(20) == 0
    run.refresh_from_db()
    assert (run.status, run.claim) == ("queued", None)


def outage_of_redis(seconds, run, next_run, own_service, start_worker, service_environ, eventually):
    """The broker is away while a run works; the run ends well, and the worker takes the next one."""
    server = own_service(RedisServer)
    environ = service_environ | server.addresses()
    send_all(environ)
    start_worker(**server.addresses())
    eventually((out_of(run) / "shard-001.txt").exists, 40)
    server.stop()
    time.sleep(seconds)
    assert status_of(run) == "running"
    server.start(lambda line: None)
    eventually(lambda: status_of(run) == "succeeded", seconds + 40)
    assert made_numbers(run) == list(range(run.params["n"]))
    Run.objects.filter(pk=next_run.pk).update(enqueued_at=None)
    send_all(environ)
    eventually(lambda: status_of(next_run) == "succeeded", 40)


def outage_of_store(seconds, run, own_service, start_worker, settings, eventually):
    """The object store is away while shards are being made: all of them arrive."""
    server = own_service(ObjectStoreServer)
    start_worker(**server.addresses())
    eventually(lambda: run.artifacts.count() >= 2, 40)
    server.stop()
    time.sleep(seconds)
    stored = run.artifacts.count()
    assert stored < run.params["n"]
    server.start(lambda line: None)
    eventually(lambda: status_of(run) == "succeeded", seconds + 40)
    assert run.artifacts.count() == run.params["n"]
    settings.OBJECT_STORE = object_store(server.addresses())
    assert storage.get_bytes(f"runs/{run.pk}/shard-005.txt") == b"number 5"


def test_redis_away_for_3_seconds_is_waited_for(make_run, own_service, start_worker, service_environ, eventually):
    run, next_run = make_run(n=40, pause=0.12), make_run(n=1)
    outage_of_redis(3, run, next_run, own_service, start_worker, service_environ, eventually)


def test_the_object_store_away_for_3_seconds_is_waited_for(make_run, own_service, start_worker, settings, eventually):
    outage_of_store(3, make_run(n=12, pause=0.1), own_service, start_worker, settings, eventually)


@pytest.mark.slow
def test_redis_away_for_10_seconds_is_waited_for(make_run, own_service, start_worker, service_environ, eventually):
    run, next_run = make_run(n=80, pause=0.15), make_run(n=1)
    outage_of_redis(10, run, next_run, own_service, start_worker, service_environ, eventually)


@pytest.mark.slow
def test_the_object_store_away_for_10_seconds_is_waited_for(make_run, own_service, start_worker, settings, eventually):
    outage_of_store(10, make_run(n=12, pause=0.1), own_service, start_worker, settings, eventually)
