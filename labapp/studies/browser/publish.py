"""Tells open trial pages that something was said, once it is committed."""

from uuid import UUID

from django.db import transaction

from labapp.hints import tell_now


def group_of(trial_id: UUID) -> str:
    return f"trial-{trial_id}"


def remarks_changed(trial_id: UUID) -> None:
    transaction.on_commit(lambda: tell_now(group_of(trial_id), {"type": "trial.remarks"}))
