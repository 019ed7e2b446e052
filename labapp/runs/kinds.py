"""Kinds of run. An app registers its kinds in its own ``kinds`` module:

    @register
    class GenerateDataset(RunKind):
        name, label, queue = "datasets.generate", "Generate a dataset", "generation"

        def prepare(self, run, workdir):
            return room_command("generation", "generate", workdir, {"n": run.params["n"]})

        def finish(self, run, workdir, result):
            ...store the rows; return what the run's page should show

``prepare`` fetches what the command needs into ``workdir``; ``finish`` runs in one transaction with the run's success:
when it raises, the run fails and no row is left. ``out_folder(workdir)`` survives so that a retry resumes.
"""

import json
import sys
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from django.db.models import Model, QuerySet

from labapp.runs.models import Run
from robots.config import load_config
from robots.errors import ConfigError

CONFIG_FILE = "request.json"


class RunError(Exception):
    """Something anticipated went wrong in a run; the message is shown to people. ``field`` names a parameter."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class RunKind(ABC):
    """How runs of one kind are started and what becomes of their results."""

    name: ClassVar[str]
    label: ClassVar[str]
    queue: ClassVar[str] = "default"
    threads: ClassVar[int] = 1

    @abstractmethod
    def prepare(self, run: Run, workdir: Path) -> list[str]:
        """Make the working folder ready and return the command, which prints run events on its output."""

    @abstractmethod
    def finish(self, run: Run, workdir: Path, result: dict[str, Any]) -> dict[str, Any] | None:
        """Store what came out. What it returns is kept as the run's result (None: the command's own)."""

    def environment(self, run: Run) -> dict[str, str]:
        """Variables for the command: numeric libraries keep to the kind's share of the machine."""
        return dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(self.threads))


K = TypeVar("K", bound=type[RunKind])
M = TypeVar("M", bound=Model)
T = TypeVar("T")
_kinds: dict[str, RunKind] = {}


def register(kind: K) -> K:
    known = _kinds.get(kind.name)
    if known is not None and type(known).__qualname__ != kind.__qualname__:
        raise ValueError(f"Two kinds of run are named {kind.name!r}: {type(known).__qualname__}, {kind.__qualname__}.")
    _kinds[kind.name] = kind()
    return kind


def get_kind(name: str) -> RunKind:
    if name not in _kinds:
        raise RunError(f"There is no kind of run named {name!r}; there are: {', '.join(sorted(_kinds))}.")
    return _kinds[name]


def kind_labels() -> dict[str, str]:
    return {name: kind.label for name, kind in sorted(_kinds.items())}


def params_of(cls: type[T], run: Run) -> T:
    """The run's parameters.

    Raises:
        RunError: names the field that is wrong.
    """
    try:
        return load_config(cls, run.params)
    except ConfigError as error:
        raise RunError(error.message, error.field or "") from error


def row_of(rows: QuerySet[M], pk: int, field: str) -> M:
    """The row that a parameter of a run names.

    Raises:
        RunError: it was removed after the run was launched.
    """
    found = rows.filter(pk=pk).first()
    if found is None:
        raise RunError(f"The {rows.model._meta.verbose_name} was removed after this run was launched.", field)
    return found


def out_folder(workdir: Path) -> Path:
    """Where the command writes; artifacts are named relative to it."""
    return workdir / "out"


def room_command(room: str, command: str, workdir: Path, config: dict[str, Any]) -> list[str]:
    """``python -m ROOM COMMAND request.json out --events`` with the configuration written beside."""
    path = workdir / CONFIG_FILE
    path.write_text(json.dumps(config, indent=1))
    return [sys.executable, "-m", room, command, str(path), str(out_folder(workdir)), "--events"]
