"""Reading runs for pages and sockets."""

from typing import Any

from django.db.models import QuerySet

from labapp.runs.models import Run, RunEvent, RunMetric
from labapp.runs.publish import event_state, metric_state, run_state

LOG_TAIL = 200
POINTS_PER_CURVE = 1000


def runs_for_list() -> QuerySet[Run]:
    return Run.objects.select_related("created_by")


def log_tail(run: Run, *, count: int = LOG_TAIL) -> list[RunEvent]:
    """The last lines, oldest first."""
    return list(reversed(run.events.order_by("-seq")[:count]))


def metrics_of(run: Run, *, points: int = POINTS_PER_CURVE) -> list[RunMetric]:
    """Every curve, thinned to about ``points`` steps; each curve keeps its last point."""
    kept = []
    for name in run.metrics.order_by("name").values_list("name", flat=True).distinct():
        curve = list(run.metrics.filter(name=name).order_by("step"))
        stride = 1 + len(curve) // points
        kept += [*curve[:-1:stride], *curve[-1:]]
    return kept


def run_snapshot(run_id: int) -> dict[str, Any] | None:
    """All that a page needs to draw a run: state, last log lines, curves."""
    run = Run.objects.filter(pk=run_id).first()
    if run is None:
        return None
    return {
        "run": run_state(run),
        "events": [event_state(event) for event in log_tail(run)],
        "metrics": [metric_state(metric) for metric in metrics_of(run)],
    }
