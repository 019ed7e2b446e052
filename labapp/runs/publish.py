"""Tells browsers about runs through the channel layer. The database holds the truth: a lost message harms nothing."""

from typing import Any

from labapp.hints import tell_now
from labapp.runs.models import Run, RunEvent, RunMetric

ALL_RUNS = "runs"


def group_of(run_id: int) -> str:
    return f"run-{run_id}"


def publish_run(run_id: int, *, events: list[RunEvent] | None = None, metrics: list[RunMetric] | None = None) -> None:
    """Send the run's state and what is new in its log and metrics to ``run-<id>``; the state to ``runs``."""
    run = Run.objects.filter(pk=run_id).first()
    if run is None:
        return
    state = run_state(run)
    payload = {
        "run": state,
        "events": [event_state(event) for event in events or []],
        "metrics": [metric_state(metric) for metric in metrics or []],
    }
    tell_now(group_of(run_id), {"type": "run.changed", "payload": payload})
    tell_now(ALL_RUNS, {"type": "run.changed", "payload": {"run": state}})


def run_state(run: Run) -> dict[str, Any]:
    return {
        "id": run.pk,
        "status": run.status,
        "done": run.progress_done,
        "total": run.progress_total,
        "unit": run.progress_unit,
        "percent": run.percent,
        "attempt": run.attempt,
        "error": run.error,
        "is_active": run.is_active,
    }


def event_state(event: RunEvent) -> dict[str, Any]:
    return {"seq": event.seq, "at": event.at.isoformat(), "level": event.level, "message": event.message}


def metric_state(metric: RunMetric) -> dict[str, Any]:
    return {"step": metric.step, "name": metric.name, "value": metric.value, "flag": metric.flag}
