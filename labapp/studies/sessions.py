"""Operators at the rig: a session begins with the checklist and ends when they leave."""

from datetime import datetime
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import DateTimeField, ExpressionWrapper, F, QuerySet, Value
from django.db.models.functions import Greatest, Least
from django.utils import timezone

from labapp.accounts.models import User
from labapp.cells.models import Cell
from labapp.studies.models import OperatorSession, Study
from labapp.studies.selectors import SESSION_LONGEST

CHECKLIST = {
    "bins": "Bins empty and in their places",
    "belt": "Belt clear and running freely",
    "objects": "All objects at hand",
    "cameras": "Lenses clean, nothing in front of them",
    "stop": "Emergency stop within reach and tried",
}


class SessionConflict(Exception):
    """Somebody else, or another device, holds the session of this study; the message says who and since when."""


@transaction.atomic
def session_start(
    *,
    study: Study,
    operator: User,
    device_id: UUID,
    now: datetime,
    checklist: dict[str, bool] | None = None,
    take_over: bool = False,
) -> OperatorSession:
    """Begin a session, or go on with the one that is open on this device.

    Sessions at a cell never overlap, be they of one study or of two: one rig, one person who scores. ``take_over`` ends
    the one open elsewhere. One left open for longer than ``SESSION_LONGEST`` holds nobody up.
    All times are the server's.

    Raises:
        ValidationError: the study takes no trials, or a point of the checklist is open.
        SessionConflict: a session is open on another device or by another operator.
    """
    Cell.objects.select_for_update().get(pk=study.cell_id)
    study = Study.objects.select_for_update().get(pk=study.pk)
    if study.status != Study.Status.LOCKED:
        raise ValidationError("A session is held on a locked study.")
    running = session_open_at(study.cell_id, now)
    is_mine = running is not None and (running.operator_id, running.device_id) == (operator.pk, device_id)
    if is_mine and running.study_id == study.pk:
        return running
    if running is not None and not take_over:
        raise SessionConflict(_who_holds(running, operator, study))
    missing = [label for key, label in CHECKLIST.items() if not (checklist or {}).get(key)]
    if missing:
        raise ValidationError({"checklist": f"Still open: {'; '.join(missing)}."})
    _end(OperatorSession.objects.filter(study__cell=study.cell_id), now)
    return OperatorSession.objects.create(
        study=study, operator=operator, device_id=device_id, checklist=dict.fromkeys(CHECKLIST, True)
    )


def session_end(*, study: Study, operator: User, now: datetime) -> int:
    """End this operator's open session of a study; returns how many there were (0 or 1)."""
    return _end(study.sessions.filter(operator=operator), now)


def _end(sessions: QuerySet[OperatorSession], now: datetime) -> int:
    """At the latest when it had lasted its longest; a clock that was set back ends one at its start, never before."""
    outlasted = ExpressionWrapper(F("started_at") + SESSION_LONGEST, DateTimeField())
    ended_at = Greatest(F("started_at"), Least(Value(now), outlasted))
    return sessions.filter(ended_at=None).update(ended_at=ended_at)


def session_open_at(cell_id: int, now: datetime) -> OperatorSession | None:
    """The session that is held at a cell now, on whichever study."""
    held = OperatorSession.objects.filter(study__cell=cell_id, ended_at=None, started_at__gt=now - SESSION_LONGEST)
    return held.select_related("operator", "study").first()


def _who_holds(session: OperatorSession, operator: User, study: Study) -> str:
    who = "You hold" if session.operator_id == operator.pk else f"{session.operator} holds"
    which = "this study on another device" if session.study_id == study.pk else f"“{session.study}” at this cell"
    since = timezone.localtime(session.started_at)
    return f"{who} the session of {which} since {since:%H:%M on %d %B}: end it there, or take over."
