"""Workers and runs of the small counting kind."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def make_run(transactional_db: Any) -> Callable[..., Any]:
    """``make_run(n=3, pause=0.1)``: a queued counting run, committed."""
    from labapp.runs.services import run_create
    from tests.labapp.runs import counting

    def make(**params: Any) -> Any:
        return run_create(kind=counting.Counting.name, params=params)

    return make


@pytest.fixture
def start_worker(
    transactional_db: Any, service_environ: dict[str, str], tmp_path: Path
) -> Iterator[Callable[..., subprocess.Popen]]:
    """``start_worker()``: a real Celery worker process on this test's database; killed afterwards."""
    started: list[subprocess.Popen] = []

    def start(queues: str = "default", **environ: str) -> subprocess.Popen:
        command = [sys.executable, "-m", "celery", "-A", "labapp.celery", "worker", "--pool=threads"]
        options = ["--concurrency=1", f"--queues={queues}", "--include=tests.labapp.runs.counting", "--loglevel=INFO"]
        options += ["--without-gossip", "--without-mingle", "--without-heartbeat", "--hostname", f"w{len(started)}@%h"]
        log = (tmp_path / f"worker{len(started)}.log").open("wb")
        worker = subprocess.Popen(
            [*command, *options],
            cwd=ROOT,
            env=service_environ | environ,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        started.append(worker)
        return worker

    yield start
    for worker in started:
        kill_tree(worker.pid)


def kill_tree(pid: int) -> None:
    try:
        process = psutil.Process(pid)
        family = [*process.children(recursive=True), process]
    except psutil.NoSuchProcess:
        return
    for member in family:
        member.kill()
    psutil.wait_procs(family, timeout=30)


@pytest.fixture
def eventually() -> Callable[..., None]:
    """``eventually(condition, seconds)``: waits for it, or fails with the condition's last value."""

    def wait(condition: Callable[[], Any], seconds: float = 60) -> Any:
        deadline = time.monotonic() + seconds
        while not (value := condition()):
            assert time.monotonic() < deadline, f"still {value!r} after {seconds} s"
            time.sleep(0.05)
        return value

    return wait
