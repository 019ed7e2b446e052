"""Trials as they stood at a moment: what was changed later is taken back, by the old values that every change keeps.

`as_of` gives each trial its outcome of that moment in columns that end in ``_then``. Without a moment these are the
row's own columns, so whoever counts trials reads ``_then`` and need not ask which it is.
"""

from collections.abc import Iterable
from datetime import datetime

from django.db.models import Case, F, FilteredRelation, PositiveIntegerField, Q, QuerySet, When
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce

from labapp.studies.models import Trial

OUTCOME = ("status", "is_success", "furthest_stage", "failure_mode", "note", "invalid_reason")
MEASURED = ("duration_s", "latency_ms")  # come with the robot's proposal (or an import), and never change
MOMENTS = ("confirmed_at", "ended_at")
COLUMNS = (*OUTCOME, *MEASURED, *MOMENTS, "version")
WAS_CHANGED = Q(later__isnull=False)


def as_of(trials: QuerySet[Trial], until: datetime | None) -> QuerySet[Trial]:
    """The trials that had begun (or were imported) by then, each with its ``_then`` columns: one join, no loop."""
    if until is None:
        return trials.annotate(**{f"{name}_then": F(name) for name in COLUMNS})
    is_later = Q(revisions__before_since__lte=until, revisions__created_at__gt=until)
    was_there = WAS_CHANGED | Q(confirmed_at__lte=until) | Q(confirmed_at=None, started_at__lte=until)
    is_untold = Q(proposal__isnull=False, ended_at__gt=until)  # an operator may score before the robot has told
    joined = trials.annotate(later=FilteredRelation("revisions", condition=is_later)).filter(was_there)
    return joined.annotate(
        **{f"{name}_then": _outcome(name) for name in OUTCOME},
        **{f"{name}_then": Case(When(is_untold, then=None), default=F(name)) for name in MEASURED},
        confirmed_at_then=_confirmed_at(),
        ended_at_then=Case(When(ended_at__gt=until, then=None), default=F("ended_at")),
        version_then=Coalesce(F("later__version") - 1, F("version"), output_field=PositiveIntegerField()),
    )


def put_back(trials: Iterable[Trial]) -> Iterable[Trial]:
    """Trials of `as_of` that show what they were then, for reading only."""
    for trial in trials:
        for name in COLUMNS:
            setattr(trial, name, getattr(trial, f"{name}_then"))
        yield trial


def _outcome(name: str) -> Case:
    """A field of the outcome: what the later change replaced, or what is there still."""
    field, old = Trial._meta.get_field(name), KeyTextTransform(name, "later__before")
    return Case(When(WAS_CHANGED, then=Cast(old, field)), default=F(name), output_field=field)


def _confirmed_at() -> Case:
    """When it was scored: the score that a later change replaced held since then."""
    was_scored = Q(later__before__status=Trial.Status.CONFIRMED)
    return Case(
        When(WAS_CHANGED & was_scored, then=F("later__before_since")),
        When(WAS_CHANGED, then=None),
        default=F("confirmed_at"),
    )
