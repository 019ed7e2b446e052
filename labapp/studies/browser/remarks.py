"""Notes and flags of a trial: everyone who sees the trial reads them, only the author changes them."""

from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction

from labapp.accounts.models import User
from labapp.studies.browser.blinding import check_text
from labapp.studies.browser.models import TrialFlag, TrialNote
from labapp.studies.browser.publish import remarks_changed
from labapp.studies.models import Trial

Remark = TrialNote | TrialFlag
T = TypeVar("T", TrialNote, TrialFlag)

SLACK_S = 1.0  # a recording may run on a little after the trial's own time
EDITABLE = {TrialNote: ("text", "time_s"), TrialFlag: ("label", "text", "time_s")}


def remark_create(model: type[T], *, remark_id: UUID, trial: Trial, author: User, **values: Any) -> T:
    """Say something of a trial; the same id again is the same remark.

    Raises:
        ValidationError: by field; also when the text names a policy of a blinded study.
        PermissionDenied: the id is that of somebody else's remark.
    """
    _check_moment(trial, values.get("time_s"))
    remark = model(id=remark_id, trial=trial, author=author, **_checked(model, trial, author, values))
    _full_clean(remark)
    made, is_new = model.objects.get_or_create(
        id=remark_id, defaults={"trial": trial, "author": author, **_values(remark)}
    )
    if not is_new and (made.author_id != author.pk or made.trial_id != trial.pk):
        raise PermissionDenied("Another remark has this id.")
    if is_new:
        remarks_changed(trial.pk)
    return made


@transaction.atomic
def remark_edit(model: type[T], *, remark_id: UUID, actor: User, now: datetime, **values: Any) -> T:
    """Change one's own remark."""
    remark = _own(model, remark_id, actor)
    if values.get("time_s") != remark.time_s:
        _check_moment(remark.trial, values.get("time_s"))
    for name, value in _checked(model, remark.trial, actor, values).items():
        setattr(remark, name, value)
    _full_clean(remark)
    remark.edited_at = now
    remark.save(update_fields=[*EDITABLE[model], "edited_at"])
    remarks_changed(remark.trial_id)
    return remark


@transaction.atomic
def remark_delete(model: type[T], *, remark_id: UUID, actor: User, now: datetime) -> T:
    """Take one's own remark away; `remark_restore` brings it back."""
    return _mark_deleted(_own(model, remark_id, actor), now)


@transaction.atomic
def remark_restore(model: type[T], *, remark_id: UUID, actor: User) -> T:
    """Undo a deletion."""
    return _mark_deleted(_own(model, remark_id, actor), None)


def remarks_of(trial: Trial) -> list[Remark]:
    """Notes and flags of a trial in the order of the recording; those of the whole trial first."""
    found = [
        *trial.trialflags.filter(deleted_at=None).select_related("author"),
        *trial.trialnotes.filter(deleted_at=None).select_related("author"),
    ]
    return sorted(found, key=lambda remark: (remark.time_s is not None, remark.time_s or 0.0, remark.created_at))


def _own(model: type[T], remark_id: UUID, actor: User) -> T:
    remark = model.objects.select_for_update(of=("self",)).select_related("trial__study").get(pk=remark_id)
    if remark.author_id != actor.pk:
        raise PermissionDenied(f"Only {remark.author} changes this {model.kind}.")
    return remark


def _mark_deleted(remark: T, at: datetime | None) -> T:
    remark.deleted_at = at
    remark.save(update_fields=["deleted_at"])
    remarks_changed(remark.trial_id)
    return remark


def _checked(model: type[T], trial: Trial, author: User, values: dict[str, Any]) -> dict[str, Any]:
    """Only what may be set, with the text checked."""
    kept = {name: value for name, value in values.items() if name in EDITABLE[model]}
    if "text" in kept:
        kept["text"] = check_text(trial.study, author, kept["text"])
    return kept


def _check_moment(trial: Trial, time_s: float | None) -> None:
    """Raises ValidationError for a moment after the trial's end; how long it took is not known before it ended."""
    if time_s is None or trial.duration_s is None or time_s <= trial.duration_s + SLACK_S:
        return
    said = f"This trial took {trial.duration_s:.2f} s: {time_s:.2f} s lies after its end."
    raise ValidationError({"time_s": f"{said} Moments count in seconds from its start."})


def _values(remark: Remark) -> dict[str, Any]:
    return {name: getattr(remark, name) for name in EDITABLE[type(remark)]}


def _full_clean(remark: Remark) -> None:
    """Raises ValidationError by field; a negative time in words."""
    if remark.time_s is not None and remark.time_s < 0:
        raise ValidationError({"time_s": "A moment of the recording is 0 s or later."})
    remark.clean_fields(exclude=["trial", "author", "id"])
