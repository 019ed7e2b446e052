"""What every embedded service has in common: a data folder, a port, a password, a health check, a process."""

import secrets
import signal
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from labapp.services.ports import choose_port, is_free
from labapp.services.process import ProcessRef, stop, wait_until

Report = Callable[[str], None]
START_TIMEOUT_S = 30.0
ATTEMPTS = 3
RELEASE_TIMEOUT_S = 5.0  # a killed server's threads may hold its socket for a moment after its pid is gone


class ServiceError(RuntimeError):
    """A service did not start; the message names its log file."""


class EmbeddedService(ABC):
    """One server process. ``facts`` (port, password, pid, ...) is what the state file keeps of it."""

    name: ClassVar[str]
    label: ClassVar[str]
    variable: ClassVar[str]
    polite: ClassVar[signal.Signals] = signal.SIGTERM

    def __init__(self, var: Path, facts: dict[str, Any], *, durable: bool = True) -> None:
        self.var = var
        self.facts = facts
        self.durable = durable
        self.data = var / self.name
        self.log = var / "log" / f"{self.name}.log"
        facts.setdefault("password", secrets.token_urlsafe(24))

    @abstractmethod
    def prepare(self) -> None:
        """Make the data folder ready; nothing when it is."""

    @abstractmethod
    def launch(self) -> ProcessRef:
        """Start the server on ``self.port``."""

    @abstractmethod
    def is_healthy(self) -> bool:
        """Whether the server answers its protocol with our credentials, and has what clients expect to find."""

    @abstractmethod
    def addresses(self) -> dict[str, str]:
        """The environment variables that lead to it."""

    @property
    def port(self) -> int:
        return self.facts["port"]

    @property
    def ref(self) -> ProcessRef | None:
        return ProcessRef(self.facts["pid"], self.facts["born_at"]) if self.facts.get("pid") else None

    @property
    def is_running(self) -> bool:
        return self.ref is not None and self.ref.find() is not None

    def start(self, report: Report) -> bool:
        """Start unless it runs and answers; returns whether a process was started."""
        if self.is_running:
            if wait_until(self.is_healthy, timeout_s=START_TIMEOUT_S):
                return False
            report(f"{self.label}: runs but does not answer; restarting it")
            self.stop()
        elif self.ref is not None:
            wait_until(lambda: is_free(self.port), timeout_s=RELEASE_TIMEOUT_S)
        self.data.mkdir(parents=True, exist_ok=True)
        self.prepare()
        for _ in range(ATTEMPTS):
            if self._try_start(report):
                return True
        raise ServiceError(f"{self.label} did not start; the end of {self.log} says why:\n{self.log_tail()}")

    def _try_start(self, report: Report) -> bool:
        self.facts["port"], remark = choose_port(self.facts.get("port", 0))
        if remark:
            report(f"{self.label}: {remark}")
        ref = self.launch()
        self.facts |= {"pid": ref.pid, "born_at": ref.born_at}
        wait_until(lambda: self.is_healthy() or not self.is_running, timeout_s=START_TIMEOUT_S)
        if self.is_running and self.is_healthy():
            return True
        self.stop()
        self.facts["port"] = 0
        return False

    def stop(self) -> bool:
        """Stop it; returns whether it ran."""
        ref = self.ref
        was_running = self.is_running
        if ref is not None:
            stop(ref, polite=self.polite)
        self.facts["pid"] = None
        return was_running

    def log_tail(self, lines: int = 8) -> str:
        try:
            return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])
        except OSError:
            return "(no log)"
