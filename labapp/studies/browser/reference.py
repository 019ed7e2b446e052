"""How the cell should look before a trial: the picture to lay over the live camera, and that of the empty rig."""

import tempfile
from pathlib import Path
from typing import Any

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction

from labapp.accounts.models import User
from labapp.media.models import Media
from labapp.media.services import media_create
from labapp.studies.browser.models import RigPicture
from labapp.studies.models import OperatorSession, Study, Trial, TrialSlot, TrialVideo
from labapp.studies.selectors import session_open, slot_next

CAMERA = "head"
SUFFIXES = {"image/jpeg": ".jpg", "image/png": ".png"}


def reference_facts(study: Study) -> dict[str, Any]:
    """Pictures for the console's reset overlay; everything here may reach an operator.

    ``reference`` is the paired trial's video, whose first frame is meant, else the empty rig; ``rig`` is the picture of
    the open session, else the study's first one. Both may be None.
    """
    slot, rig = slot_next(study), rig_picture(study)
    video = paired_video(slot) if slot else None
    return {"slot": slot.pk if slot else None, "reference": _reference(video, rig), "rig": _rig(study, rig)}


def paired_video(slot: TrialSlot) -> TrialVideo | None:
    """Head video of the block's first scored trial that began from the same state: same object, same seed."""
    trials = Trial.objects.filter(
        study=slot.study,
        status=Trial.Status.CONFIRMED,
        slot__block=slot.block,
        slot__object=slot.object,
        slot__seed=slot.seed,
        slot__condition=slot.condition,
    )
    videos = TrialVideo.objects.filter(trial__in=trials, camera=CAMERA).select_related("media", "trial__slot")
    return videos.order_by("trial__started_at", "trial_id").first()


def rig_picture(study: Study) -> RigPicture | None:
    """The open session's newest picture; before it has one, the study's first: so drift between days shows too."""
    pictures = RigPicture.objects.filter(session__study=study).select_related("media", "session")
    session = session_open(study)
    of_session = pictures.filter(session=session).last() if session else None
    return of_session or pictures.first()


@transaction.atomic
def rig_picture_store(*, session: OperatorSession, actor: User, content: bytes, content_type: str) -> RigPicture:
    """Keep a picture of the empty rig; taken again, the newest counts and the others stay.

    Raises:
        PermissionDenied: another operator's session.
        ValidationError: the session is over, or had a trial: the rig of a session is pictured before its first one.
    """
    session = OperatorSession.objects.select_for_update().get(pk=session.pk)
    if session.operator_id != actor.pk:
        raise PermissionDenied("This is another operator's session.")
    if session.ended_at is not None:
        raise ValidationError("This session is over; the rig is pictured when the next one begins.")
    if session.trials.exists():
        raise ValidationError(
            "The rig is pictured before the first trial of a session; begin a new one to do it again."
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"rig{SUFFIXES[content_type]}"
        path.write_bytes(content)
        media = media_create(path=path, kind=Media.Kind.IMAGE, content_type=content_type, created_by=actor)
    return RigPicture.objects.create(session=session, media=media)


def _reference(video: TrialVideo | None, rig: RigPicture | None) -> dict[str, Any] | None:
    if video is not None:
        words = f"Trial {video.trial.slot.position}: same object, same start"
        return {"kind": "trial", "url": video.media.get_absolute_url(), "words": words}
    if rig is not None:
        return {"kind": "rig", "url": rig.media.get_absolute_url(), "words": "The empty rig: no paired trial yet"}
    return None


def _rig(study: Study, rig: RigPicture | None) -> dict[str, Any] | None:
    if rig is None:
        return None
    session = session_open(study)
    is_of_session = session is not None and rig.session_id == session.pk
    return {"url": rig.media.get_absolute_url(), "taken_at": rig.taken_at, "is_of_session": is_of_session}
