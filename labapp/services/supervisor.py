"""Keeps a set of programs running: starts them, restarts those that crash, stops every process group at the end."""

import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from labapp.services.base import Report
from labapp.services.process import ProcessRef, stop
from labapp.services.state import read_json, write_private

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0
STEADY_AFTER_S = 30.0
STOP_GRACE_S = 15.0


@dataclass(frozen=True)
class Program:
    """A command that is to run for as long as the supervisor does."""

    name: str
    command: list[str]
    environ: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Child:
    program: Program
    process: subprocess.Popen[bytes]
    started_at: float
    pause_s: float = FIRST_PAUSE_S
    restart_at: float | None = None


class Supervisor:
    """Children write to ``var/log/<name>.log``; ``var/children.json`` remembers them, should we be killed."""

    def __init__(self, var: Path, cwd: Path, report: Report = print) -> None:
        self.var = var
        self.cwd = cwd
        self.report = report
        self.children: dict[str, Child] = {}
        self.stopping = threading.Event()

    def stop_leftovers(self) -> None:
        """End what a supervisor that was killed left behind."""
        for name, facts in read_json(self.var / "children.json").items():
            ref = ProcessRef(facts["pid"], facts["born_at"])
            if ref.find():
                self.report(f"{name}: left over from an earlier start; stopping it")
                stop(ref)
        self._remember()

    def start(self, program: Program) -> None:
        self.children[program.name] = Child(program, self._spawn(program), time.monotonic())
        self._remember()

    def check(self) -> None:
        """Restart what has ended; the pause grows while a child keeps crashing. Call it every second or so."""
        now = time.monotonic()
        for child in self.children.values():
            if child.restart_at is not None:
                if now >= child.restart_at and not self.stopping.is_set():
                    self._restart(child)
            elif child.process.poll() is not None:
                self._note_crash(child, now)

    def stop_all(self) -> None:
        """Ask every child's process group to stop, wait, and kill what is left."""
        self.stopping.set()
        running = [child for child in self.children.values() if child.process.poll() is None]
        families = [member for child in running for member in family_of(child.process.pid)]
        for child in running:
            signal_group(child.process.pid, signal.SIGTERM)
        deadline = time.monotonic() + STOP_GRACE_S
        for child in running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.process.wait(max(0.1, deadline - time.monotonic()))
        for child in running:
            signal_group(child.process.pid, signal.SIGKILL)
            child.process.wait()
        self._end_families(families)
        self.children.clear()
        self._remember()

    def log_of(self, name: str) -> Path:
        return self.var / "log" / f"{name}.log"

    def _end_families(self, families: list[psutil.Process]) -> None:
        """Grandchildren in sessions of their own had their parents' goodbye; nobody stays."""
        _, alive = psutil.wait_procs(families, timeout=5)
        for member in alive:
            with contextlib.suppress(psutil.NoSuchProcess):
                member.kill()

    def _spawn(self, program: Program) -> subprocess.Popen[bytes]:
        log = self.log_of(program.name)
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            return subprocess.Popen(
                program.command,
                cwd=self.cwd,
                env={**os.environ, **program.environ, "PYTHONUNBUFFERED": "1"},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _note_crash(self, child: Child, now: float) -> None:
        signal_group(child.process.pid, signal.SIGKILL)
        if now - child.started_at > STEADY_AFTER_S:
            child.pause_s = FIRST_PAUSE_S
        name, status = child.program.name, child.process.returncode
        self.report(
            f"{name}: ended with status {status}; starting it again in {child.pause_s:g} s ({self.log_of(name)})"
        )
        child.restart_at = now + child.pause_s
        child.pause_s = min(LONGEST_PAUSE_S, 2 * child.pause_s)

    def _restart(self, child: Child) -> None:
        child.process = self._spawn(child.program)
        child.started_at, child.restart_at = time.monotonic(), None
        self.report(f"{child.program.name}: started again")
        self._remember()

    def _remember(self) -> None:
        known = {}
        for name, child in self.children.items():
            with contextlib.suppress(psutil.NoSuchProcess):
                ref = ProcessRef.of(child.process.pid)
                known[name] = {"pid": ref.pid, "born_at": ref.born_at}
        write_private(self.var / "children.json", json.dumps(known, indent=1))


def family_of(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def signal_group(pid: int, signum: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signum)
