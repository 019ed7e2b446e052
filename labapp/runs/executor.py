"""Carries out one run on this worker: claim, command, events, artifacts, finish."""

import logging
import os
import socket
import threading
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from labapp.runs.artifacts import Uploader, artifacts_restore, artifacts_unstored
from labapp.runs.child import Child, end_leftovers
from labapp.runs.events import Artifact, Done, Failure, parse_line
from labapp.runs.heart import Heart
from labapp.runs.kinds import RunError, RunKind, get_kind, out_folder
from labapp.runs.models import Run
from labapp.runs.recorder import Recorder
from labapp.runs.services import Verdict, run_claim, run_finish, run_release
from labapp.storage import ObjectDamaged, ObjectMissing, StoreRefused, StoreUnavailable

logger = logging.getLogger(__name__)
ANTICIPATED = (RunError, StoreUnavailable, StoreRefused, ObjectDamaged, ObjectMissing)
POLL_SECONDS = 0.2


class InterruptedRunError(Exception):
    """The run is not to go on here: cancelled, lost, or the worker stops."""


class NotOursError(Exception):
    """The claim was taken away before the success could be written."""


def run_execute(run_id: int, *, stop: threading.Event | None = None) -> str:
    """Carry out a queued run; returns its status, or ``skipped`` when it is not queued (a second delivery)."""
    run = run_claim(run_id=run_id, worker=f"{socket.gethostname()}:{os.getpid()}", now=timezone.now())
    if run is None:
        logger.info("Run %s is taken or has ended; nothing to do", run_id)
        return "skipped"
    with Heart(run.pk, run.claim) as heart:
        Execution(run, heart, stop or threading.Event()).perform()
    return Run.objects.values_list("status", flat=True).get(pk=run_id)


class Execution:
    """One attempt at a run."""

    def __init__(self, run: Run, heart: Heart, stop: threading.Event) -> None:
        self.run = run
        self.heart = heart
        self.stop = stop
        self.workdir: Path = Path(settings.RUNS_DIR) / str(run.pk)
        self.out = out_folder(self.workdir)
        self.recorder = Recorder(run)
        self.done: Done | None = None
        self.failure: Failure | None = None

    def perform(self) -> None:
        try:
            kind = get_kind(self.run.kind)
            self._run_command(kind)
            self._succeed(kind)
        except InterruptedRunError:
            self._end_interrupted()
        except NotOursError:
            logger.warning("Run %s was taken away before its result was stored", self.run.pk)
        except ANTICIPATED as error:
            self._fail(str(error), getattr(error, "field", ""))
        except Exception as error:
            logger.exception("Run %s broke", self.run.pk)
            self._fail(f"Unexpected {type(error).__name__}; the worker's log has the details.")

    def _run_command(self, kind: RunKind) -> None:
        self.out.mkdir(parents=True, exist_ok=True)
        if end_leftovers(self.workdir):
            self.recorder.log("warning", "Ended processes that an earlier attempt had left.")
        artifacts_restore(run=self.run, out=self.out)
        command = kind.prepare(self.run, self.workdir)
        self._check()
        status, tail = self._follow(command, kind.environment(self.run))
        self.recorder.flush()
        if self.failure:
            raise RunError(self.failure.message, self.failure.field)
        if status != 0 or self.done is None:
            raise RunError(_ending(status, tail))

    def _follow(self, command: list[str], environ: dict[str, str]) -> tuple[int, list[str]]:
        """Run the command to its end with its uploads; an interruption ends its whole process group."""
        child = Child(
            command,
            cwd=settings.BASE_DIR,
            environ=environ,
            workdir=self.workdir,
            grace_s=settings.RUN_STOP_GRACE_SECONDS,
        )
        uploader = Uploader(self.run.pk, self.out)
        for artifact in artifacts_unstored(run=self.run, workdir=self.workdir, out=self.out):
            uploader.add(artifact)
        try:
            self._listen(child, uploader)
            status = child.wait()
            uploader.close()
            while not uploader.join(POLL_SECONDS):
                self._check()
            return status, child.stderr_tail
        finally:
            child.stop()
            uploader.abandon(settings.RUN_STOP_GRACE_SECONDS)

    def _listen(self, child: Child, uploader: Uploader) -> None:
        while not child.is_done:
            self._take(child.next_line(POLL_SECONDS), uploader)
            self.recorder.flush_if_due()
            self._check()

    def _take(self, line: tuple[str, str] | None, uploader: Uploader) -> None:
        if line is None or not line[1].strip():
            return
        source, text = line
        if source == "err":
            self.recorder.log("warning", text)
            return
        event = parse_line(text)
        if isinstance(event, Artifact):
            uploader.add(event)
        elif isinstance(event, Done):
            self.done = event
        elif isinstance(event, Failure):
            self.failure = event
        else:
            self.recorder.add(event)

    def _check(self) -> None:
        if self.stop.is_set() or self.heart.verdict is not Verdict.GO_ON:
            raise InterruptedRunError

    def _succeed(self, kind: RunKind) -> None:
        """What the kind stores and the success are one transaction: both or nothing."""
        reported: dict[str, Any] = self.done.result if self.done else {}
        with transaction.atomic():
            stored = kind.finish(self.run, self.workdir, reported)
            result = reported if stored is None else stored
            if not self._finish(Run.Status.SUCCEEDED, result=result):
                raise NotOursError

    def _end_interrupted(self) -> None:
        self.recorder.flush()
        if self.heart.verdict is Verdict.LOST:
            logger.warning("Run %s was taken away from this worker", self.run.pk)
        elif self.heart.verdict is Verdict.CANCEL:
            self._finish(Run.Status.CANCELLED)
        else:
            reason = "The worker stops; the run waits in the queue and goes on from its last saved state."
            run_release(run_id=self.run.pk, claim=self.run.claim, reason=reason)

    def _fail(self, message: str, field: str = "") -> None:
        self.recorder.flush()
        self._finish(Run.Status.FAILED, error=message, error_field=field)

    def _finish(self, status: Run.Status, **facts: Any) -> bool:
        return run_finish(run_id=self.run.pk, claim=self.run.claim, status=status, now=timezone.now(), **facts)


def _ending(status: int, tail: list[str]) -> str:
    """Why a command that said nothing about it did not succeed."""
    last = next((line for line in reversed(tail) if line.strip()), "")
    how = f"was ended by signal {status - 128}" if status > 128 else f"ended with status {status}"
    if status == 0:
        how = "ended without reporting a result"
    return f"The command {how}. {last}".strip()
