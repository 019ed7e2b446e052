"""The command of a run as seen by its worker: lines as they come, a stop that leaves nothing behind."""

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

import psutil

from labapp.runs.launcher import PID_FILE

LAUNCHER = Path(__file__).with_name("launcher.py")
LINE_LIMIT = 1 << 20
WAITING_LINES = 2000


class Child:
    """A running command. ``next_line`` gives ``("out" | "err", text)``; the pipe holds it back when we are slow."""

    def __init__(
        self, command: Sequence[str], *, cwd: Path, environ: Mapping[str, str], workdir: Path, grace_s: float
    ) -> None:
        self.grace_s = grace_s
        self.stderr_tail: list[str] = []
        self._lines: queue.Queue[tuple[str, str]] = queue.Queue(WAITING_LINES)
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(LAUNCHER), str(workdir), str(grace_s), *command],
            cwd=cwd,
            env={**os.environ, **environ, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        streams = {"out": self._process.stdout, "err": self._process.stderr}
        self._readers = [
            threading.Thread(target=self._read, args=(name, stream), daemon=True) for name, stream in streams.items()
        ]
        for reader in self._readers:
            reader.start()

    def next_line(self, timeout_s: float) -> tuple[str, str] | None:
        try:
            return self._lines.get(timeout=timeout_s)
        except queue.Empty:
            return None

    @property
    def is_done(self) -> bool:
        """The command has ended and every line has been handed out."""
        return self._lines.empty() and not any(reader.is_alive() for reader in self._readers)

    def wait(self) -> int:
        return self._process.wait()

    def stop(self) -> None:
        """End the whole process group; returns when it is gone."""
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        threading.Thread(target=self._discard, daemon=True).start()
        try:
            self._process.wait(self.grace_s + 5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _read(self, name: str, stream: IO[str]) -> None:
        with stream:
            while line := stream.readline(LINE_LIMIT):
                if name == "err":
                    self.stderr_tail = [*self.stderr_tail[-9:], line.rstrip()]
                self._lines.put((name, line))

    def _discard(self) -> None:
        """A command that is blocked on a full pipe could not react to SIGTERM."""
        while self._process.poll() is None:
            self.next_line(0.2)


def end_leftovers(workdir: Path) -> bool:
    """Kill what an earlier attempt on this machine left running in this folder; True when there was something."""
    try:
        group = int((workdir / PID_FILE).read_text())
    except (OSError, ValueError):
        return False
    members = [process for process in psutil.process_iter() if _belongs(process, group, workdir)]
    if not members:
        return False
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
    psutil.wait_procs(members, timeout=5)
    return True


def _belongs(process: psutil.Process, group: int, workdir: Path) -> bool:
    """The group's number alone may have been given to others since."""
    try:
        return os.getpgid(process.pid) == group and str(workdir) in " ".join(process.cmdline())
    except (psutil.Error, OSError):
        return False
