"""A chain of runs: each job starts when what it needs is ready, and is found again by the rows it made."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from django.utils import timezone

from labapp.runs.models import Run
from labapp.runs.services import run_retry, runs_mark_lost

POLL_S = 1.0


class JobFailed(Exception):
    """A run of the chain failed; the message says which and why."""


@dataclass
class Job:
    """One link of the chain.

    Args:
        find_run: the run that was launched for it, or None.
        is_ready: whether its product is there.
        launch: create the rows and the run.
    """

    title: str
    find_run: Callable[[], Run | None]
    is_ready: Callable[[], bool]
    launch: Callable[[], object]
    needs: Sequence["Job"] = ()
    is_done: bool = field(default=False, init=False)

    def advance(self) -> None:
        """Notice that it is done, or start it when it can start.

        Raises:
            JobFailed: its run failed or was cancelled while it was waited for.
        """
        self.is_done = self.is_ready()
        if self.is_done or not all(job.is_done for job in self.needs):
            return
        run = self.find_run()
        if run is None:
            self.launch()
        elif run.status == Run.Status.LOST:
            run_retry(run_id=run.pk, by=None)
        elif run.status in (Run.Status.FAILED, Run.Status.CANCELLED):
            raise JobFailed(f"{self.title}: the run {run.get_status_display()}. {run.error}".strip())

    def progress(self) -> float:
        """Share that is done, 0 to 1."""
        run = None if self.is_done else self.find_run()
        if run is None or not run.progress_total:
            return float(self.is_done)
        return min(1.0, run.progress_done / run.progress_total)


def resume_ended(jobs: Sequence[Job]) -> None:
    """Whoever starts the study again wants its failed and cancelled runs tried again."""
    for job in jobs:
        run = job.find_run()
        if run is not None and not job.is_ready() and run.status in (Run.Status.FAILED, Run.Status.CANCELLED):
            run_retry(run_id=run.pk, by=None)


def carry_out(jobs: Sequence[Job], report: Callable[[Sequence[Job]], None]) -> None:
    """Start jobs as they become possible and wait for all; ``report`` is called once a second.

    Raises:
        JobFailed: as soon as one of them fails.
    """
    resume_ended(jobs)
    while not all(job.is_done for job in jobs):
        runs_mark_lost(now=timezone.now())
        for job in jobs:
            if not job.is_done:
                job.advance()
        report(jobs)
        time.sleep(POLL_S)
