"""Operators at the rig: a session begins with the checklist and ends when they leave."""

from datetime import datetime
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction

from labapp.accounts.models import User
from labapp.studies.models import OperatorSession, Study

CHECKLIST = {
    "bins": "Bins empty and in their places",
    "belt": "Belt clear and running freely",
    "objects": "All objects at hand",
    "cameras": "Lenses clean, nothing in front of them",
    "stop": "Emergency stop within reach and tried",
}


@transaction.atomic
def session_start(
    *, study: Study, operator: User, device_id: UUID, checklist: dict[str, bool] | None = None
) -> OperatorSession:
    """Begin a session, or go on with the one that is open on this device.

    Raises:
        ValidationError: the study takes no trials, or a point of the checklist is open.
    """
    if study.status != Study.Status.LOCKED:
        raise ValidationError("A session is held on a locked study.")
    running = OperatorSession.objects.filter(study=study, operator=operator, device_id=device_id, ended_at=None)
    if (session := running.first()) is not None:
        return session
    missing = [label for key, label in CHECKLIST.items() if not (checklist or {}).get(key)]
    if missing:
        raise ValidationError({"checklist": f"Still open: {'; '.join(missing)}."})
    return OperatorSession.objects.create(
        study=study, operator=operator, device_id=device_id, checklist=dict.fromkeys(CHECKLIST, True)
    )


def session_end(*, study: Study, operator: User, now: datetime) -> int:
    """End this operator's open sessions of a study; returns how many there were."""
    return OperatorSession.objects.filter(study=study, operator=operator, ended_at=None).update(ended_at=now)
