"""What happened when in a recorded trial, for the marks below its playhead."""

from typing import Any

from django.db.models import Model, QuerySet

from labapp.studies.models import Trial
from labapp.studies.selectors import UNFINISHED

WORDS = {
    "accepted": "accepted by the robot",
    "loading": "policy loading",
    "started": "started",
    "finished": "finished",
    "failed": "failed",
    "cancelled": "cancelled",
}
BEFORE_START = ("accepted", "loading")
LONGEST_STAGE = 24


def trial_events(trial: Trial) -> list[dict[str, Any]]:
    """Events in the order in which the agent counted them: its clock may jump, its numbers do not.

    ``key`` names the event for aligning two trials; ``is_out_of_order`` says that its time lies before the one of the
    event before.
    """
    found, latest = [], 0.0
    for event in visible_events(trial).exclude(kind__in=BEFORE_START):
        stage = stage_of(event.kind, event.payload)
        found.append(
            {
                "key": f"stage:{stage}" if stage else event.kind,
                "kind": event.kind,
                "label": stage or WORDS.get(event.kind, event.kind),
                "time_s": max(0.0, event.time_s),
                "is_out_of_order": event.time_s < latest,
            }
        )
        latest = max(latest, event.time_s)
    return found


def visible_events(trial: Trial) -> QuerySet[Model]:
    """Without the stages until the trial is scored: they are the referee's view, and the operator scores first."""
    events = trial.agent_events.order_by("sequence")
    return events.exclude(kind="stage") if trial.status in UNFINISHED else events


def stage_of(kind: str, payload: dict[str, Any]) -> str:
    """The stage that an event reports, also one that this lab does not know; "" for other events."""
    return str(payload.get("stage", ""))[:LONGEST_STAGE] if kind == "stage" else ""


def shared_events(a: list[dict[str, Any]], b: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Events that both trials have, each with its first moment in either: what they can be aligned at."""
    first_b: dict[str, float] = {}
    for event in b:
        first_b.setdefault(event["key"], event["time_s"])
    shared: dict[str, dict[str, Any]] = {}
    for event in a:
        key = event["key"]
        if key in first_b and key != "started":
            moments = {"a_s": event["time_s"], "b_s": first_b[key]}
            shared.setdefault(key, {"key": key, "label": event["label"], **moments})
    return list(shared.values())
