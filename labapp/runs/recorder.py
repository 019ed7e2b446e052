"""Collects a command's events and writes them in batches, at most twice a second."""

import logging
import time
from uuid import UUID

from django.db import DatabaseError, connection, transaction

from labapp.runs.events import Log, Metric, Progress, clean_text
from labapp.runs.models import Run, RunEvent, RunMetric
from labapp.runs.publish import publish_run
from labapp.runs.services import LogLine, events_append

logger = logging.getLogger(__name__)
FLUSH_SECONDS = 0.5
BATCH = 500
LOG_LIMIT = 20_000


class Recorder:
    """One run's log, metrics and progress on their way to the database; only the owner of the claim writes."""

    def __init__(self, run: Run) -> None:
        self.run_id = run.pk
        self.claim: UUID = run.claim
        self.line_count = run.event_count
        self.lines: list[LogLine] = []
        self.metrics: dict[tuple[int, str], Metric] = {}
        self.progress: Progress | None = None
        self.flushed_at = time.monotonic()

    def log(self, level: str, message: str) -> None:
        self.line_count += 1
        if self.line_count < LOG_LIMIT:
            self.lines.append(LogLine(level, clean_text(message)))
        elif self.line_count == LOG_LIMIT:
            self.lines.append(LogLine("warning", f"More than {LOG_LIMIT:,} lines; the rest is not kept."))

    def add(self, event: Log | Metric | Progress) -> None:
        if isinstance(event, Log):
            self.log(event.level, event.message)
        elif isinstance(event, Metric):
            self.metrics[event.step, event.name] = event
        else:
            self.progress = event

    def flush_if_due(self) -> None:
        is_full = len(self.lines) + len(self.metrics) >= BATCH
        if is_full or time.monotonic() - self.flushed_at >= FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what has come together. When the database is away it is kept for the next time."""
        self.flushed_at = time.monotonic()
        if not (self.lines or self.metrics or self.progress):
            return
        try:
            events, metrics = self._write()
        except DatabaseError as error:
            logger.warning("Run %s: events wait, the database is away: %s", self.run_id, error)
            connection.close()
            return
        self.lines, self.metrics, self.progress = [], {}, None
        publish_run(self.run_id, events=events, metrics=metrics)

    def _write(self) -> tuple[list[RunEvent], list[RunMetric]]:
        with transaction.atomic():
            if not self._still_ours():
                return [], []
            self._write_progress()
            return events_append(run_id=self.run_id, lines=self.lines), self._write_metrics()

    def _still_ours(self) -> bool:
        return Run.objects.select_for_update().filter(pk=self.run_id, claim=self.claim).exists()

    def _write_progress(self) -> None:
        if self.progress:
            Run.objects.filter(pk=self.run_id).update(
                progress_done=self.progress.done, progress_total=self.progress.total, progress_unit=self.progress.unit
            )

    def _write_metrics(self) -> list[RunMetric]:
        """A step that is reported again after a resume replaces the value it had."""
        rows = [
            RunMetric(run_id=self.run_id, step=metric.step, name=metric.name, value=metric.value, flag=metric.flag)
            for metric in self.metrics.values()
        ]
        return RunMetric.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["run", "name", "step"],
            update_fields=["value", "flag"],
        )
