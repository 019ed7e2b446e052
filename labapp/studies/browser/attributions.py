"""Attributions of trials: attach one computed afterwards, take it away, and all that a trial has for its page."""

import hashlib
import re
from typing import Any

from django.core.exceptions import ValidationError

from labapp import storage
from labapp.accounts.models import User
from labapp.cells.models import Agent
from labapp.studies.browser import attribution as values
from labapp.studies.browser.models import TrialAttribution
from labapp.studies.models import Trial
from labapp.studies.recording import MAX_POINTS, Recording

PREFIX = "attribution."
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


def attribution_attach(
    *, trial: Trial, name: str, given: values.Attribution, author: User | None = None, agent: Agent | None = None
) -> TrialAttribution:
    """Store an attribution under its name; the one of that name before is replaced.

    Raises:
        ValidationError: a name that is none, or steps after the trial's end.
    """
    if not _NAME.fullmatch(name):
        raise ValidationError({"name": f"“{name[:60]}”: a name has small letters, digits and _, at most 40."})
    given.check_within(trial.duration_s)
    content = values.to_parquet(given)
    stored = storage.put_bytes(content, _key(trial, name, content), content_type="application/vnd.apache.parquet")
    row, _ = TrialAttribution.objects.update_or_create(
        trial=trial,
        name=name,
        defaults={
            "kind": given.kind,
            "components": list(given.components),
            "object_key": stored.key,
            "sha256": stored.sha256,
            "row_count": len(given.times_s),
            "author": author,
            "agent": agent,
        },
    )
    return row


def attribution_remove(*, row: TrialAttribution) -> None:
    """Take an attribution off its trial; its table stays in the store, where nothing points to it."""
    row.delete()


def attribution_read(row: TrialAttribution) -> values.Attribution:
    return values.from_parquet(storage.get_bytes(row.object_key), row.kind)


def trial_attributions(trial: Trial, recording: Recording | None) -> list[dict[str, Any]]:
    """Everything attributed to a trial for its page: ``name`` and what `attribution.thinned` gives.

    An attached one stands before a recorded one of the same name. A recorded one that cannot be read is left out.
    """
    found = dict(_recorded(recording)) if recording else {}
    found |= {row.name: attribution_read(row) for row in trial.attributions.all()}
    return [{"name": name, **values.thinned(found[name], MAX_POINTS)} for name in sorted(found)]


def _recorded(recording: Recording) -> list[tuple[str, values.Attribution]]:
    found = []
    for feature in recording.features:
        if not feature.startswith(PREFIX):
            continue
        rows = recording.vectors(feature)
        names = recording.names(feature) or tuple(f"component {n}" for n in range(1, rows.shape[1] + 1))
        try:
            made = values.Attribution(values.kind_of(rows), names, recording.times_s, rows)
        except ValidationError:
            continue
        found.append((feature.removeprefix(PREFIX), made))
    return found


def _key(trial: Trial, name: str, content: bytes) -> str:
    return f"trials/{trial.pk}/attribution/{name}-{hashlib.sha256(content).hexdigest()[:16]}.parquet"
