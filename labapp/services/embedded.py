"""The three embedded services as one: up (idempotent), down, status. One that the environment names is left out."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labapp.services.base import EmbeddedService, Report
from labapp.services.object_store import ObjectStoreServer
from labapp.services.postgres import Postgres
from labapp.services.redis_server import RedisServer
from labapp.services.state import STATE_FILE, read_json, write_state

SERVICES = (Postgres, RedisServer, ObjectStoreServer)


@dataclass(frozen=True)
class ServiceStatus:
    name: str
    label: str
    state: str  # answers | silent | stopped | external
    port: int | None
    pid: int | None


class EmbeddedServices:
    """``var`` holds their data, logs, state file and lock. ``durable=False`` trades safety for speed (tests)."""

    def __init__(self, var: Path, *, durable: bool = True) -> None:
        self.var = var.resolve()
        self.durable = durable

    def up(self, report: Report = print) -> list[str]:
        """Start what does not run; returns the names of the services started now."""
        with self._state() as state:
            started = []
            for service in self._ours(state):
                if service.start(report):
                    started.append(service.name)
                    report(f"{service.label}: started on port {service.port}")
                state["addresses"] |= service.addresses()
                write_state(self.var, state)
            return started

    def down(self, report: Report = print, only: list[str] | None = None) -> list[str]:
        """Stop those that run, last started first; returns their names."""
        with self._state() as state:
            stopped = []
            for service in reversed(self._ours(state)):
                if (only is None or service.name in only) and service.stop():
                    stopped.append(service.name)
                    report(f"{service.label}: stopped")
                write_state(self.var, state)
            return stopped

    def status(self) -> list[ServiceStatus]:
        state = self._read()
        ours = {service.name: service for service in self._ours(state)}
        return [self._status_of(kind, ours.get(kind.name)) for kind in SERVICES]

    def service(self, name: str) -> EmbeddedService:
        """One service with the facts of the state file, for tests that stop and start it."""
        return next(service for service in self._ours(self._read()) if service.name == name)

    @staticmethod
    def _status_of(kind: type[EmbeddedService], service: EmbeddedService | None) -> ServiceStatus:
        if service is None:
            return ServiceStatus(kind.name, kind.label, "external", None, None)
        if not service.is_running:
            return ServiceStatus(kind.name, kind.label, "stopped", service.facts.get("port"), None)
        word = "answers" if service.is_healthy() else "silent"
        return ServiceStatus(kind.name, kind.label, word, service.port, service.facts["pid"])

    def _ours(self, state: dict[str, Any]) -> list[EmbeddedService]:
        return [
            kind(self.var, state["services"].setdefault(kind.name, {}), durable=self.durable)
            for kind in SERVICES
            if not is_external(kind.variable)
        ]

    def _read(self) -> dict[str, Any]:
        return {"addresses": {}, "services": {}} | read_json(self.var / STATE_FILE)

    @contextlib.contextmanager
    def _state(self) -> Iterator[dict[str, Any]]:
        """The state, with every other ``up`` and ``down`` on the same folder kept waiting."""
        self.var.mkdir(parents=True, exist_ok=True)
        with (self.var / "services.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield self._read()


def is_external(variable: str) -> bool:
    return bool(os.environ.get(variable) or os.environ.get(f"{variable}_FILE"))
