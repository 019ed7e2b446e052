"""Processes that outlive the one that started them: known by pid and birth time, stopped with their children."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil


@dataclass(frozen=True)
class ProcessRef:
    """A pid alone may be reused by the system; with the birth time it is unique."""

    pid: int
    born_at: float

    @classmethod
    def of(cls, pid: int) -> "ProcessRef":
        return cls(pid, psutil.Process(pid).create_time())

    def find(self) -> psutil.Process | None:
        try:
            process = psutil.Process(self.pid)
            is_same = abs(process.create_time() - self.born_at) < 1.0
            return process if is_same and process.status() != psutil.STATUS_ZOMBIE else None
        except psutil.Error:
            return None


@dataclass(frozen=True)
class Account:
    """A system account to run as; only root may choose one."""

    uid: int
    gid: int


def spawn(
    command: Sequence[str],
    *,
    log: Path,
    cwd: Path,
    environ: Mapping[str, str] | None = None,
    account: Account | None = None,
) -> ProcessRef:
    """Start a process in its own session with its output appended to a log file."""
    log.parent.mkdir(parents=True, exist_ok=True)
    identity = {"user": account.uid, "group": account.gid, "extra_groups": []} if account else {}
    with log.open("ab") as output:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env={**os.environ, **(environ or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            **identity,
        )
    return ProcessRef.of(process.pid)


def stop(ref: ProcessRef, *, polite: signal.Signals = signal.SIGTERM, grace_s: float = 10.0) -> None:
    """Ask politely, then kill; returns once the process is gone."""
    process = ref.find()
    if process is None:
        return
    children = process.children(recursive=True)
    with contextlib.suppress(psutil.NoSuchProcess):
        process.send_signal(polite)
    _, alive = psutil.wait_procs([process, *children], timeout=grace_s)
    for survivor in alive:
        with contextlib.suppress(psutil.NoSuchProcess):
            survivor.kill()
    psutil.wait_procs(alive, timeout=5)


def wait_until(check: Callable[[], bool], *, timeout_s: float, step_s: float = 0.05) -> bool:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if check():
            return True
        time.sleep(step_s)
    return False
