"""What went otherwise than the locked plan, in order: for the study's page and for every report."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from labapp.studies.models import Study, StudyEvent


@dataclass(frozen=True)
class Deviation:
    """One deviation: when, what it was (``kind`` is the event's), what changed, why, and who says so."""

    at: datetime
    kind: str
    title: str
    changes: tuple[tuple[str, str, str], ...]
    reason: str
    actor: str

    def __str__(self) -> str:
        changed = "; ".join(f"{what} from {old} to {new}" for what, old, new in self.changes)
        parts = [f"{self.title} on {self.at:%Y-%m-%d}", changed, self.reason]
        return ": ".join(part for part in parts if part)


def study_deviations(study: Study, until: datetime | None = None) -> list[Deviation]:
    """Amendments, withdrawn arms, unblinding before the end and an early end, in the order in which they happened."""
    events = study.events.select_related("actor").order_by("pk")  # a clock may jump
    if until is not None:
        events = events.filter(created_at__lte=until)
    return [_deviation(event, title) for event in events if (title := _title(event))]


def _title(event: StudyEvent) -> str:
    kinds, payload = StudyEvent.Kind, event.payload
    if event.kind == kinds.AMENDED:
        return "noted" if payload.get("changes") == [] else "amended"
    if event.kind == kinds.ARM_WITHDRAWN:
        return "arm withdrawn"
    if event.kind == kinds.UNBLINDED and payload.get("is_early"):
        return "unblinded before the study was finished"
    if event.kind == kinds.FINISHED and payload.get("open_slots"):
        return f"finished with {payload['open_slots']} planned trials not run"
    return ""


def _deviation(event: StudyEvent, title: str) -> Deviation:
    changes = tuple((c["what"], _text(c["old"]), _text(c["new"])) for c in event.payload.get("changes", ()))
    actor = event.actor.get_username() if event.actor else "the system"
    return Deviation(event.created_at, event.kind, title, changes, event.reason, actor)


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
