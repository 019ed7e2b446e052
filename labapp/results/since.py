"""What a view of an earlier moment says of itself: the moment, and what happened to its trials since."""

from django.db.models import Count, Q

from frontend.dashboards.filters import Filters
from frontend.dashboards.numbers import utc_minute
from labapp.results.tallies import trials_of
from labapp.studies.models import Study, TrialRevision

Kind = TrialRevision.Kind
WORDS = {
    "corrected": (Kind.CORRECTED, "corrected"),
    "invalidated": (Kind.INVALIDATED, "marked invalid"),
    "undone": (Kind.UNDONE, "taken back"),
    "scored": (Kind.CONFIRMED, "scored"),
}


def since_sentence(study: Study, filters: Filters) -> str:
    """Empty without a moment. Corrected and taken back are told of what the page shows, not of what came later.

    A trial that was corrected and then marked invalid is told as both.
    """
    if filters.until is None:
        return ""
    later = TrialRevision.objects.filter(trial__in=trials_of(study, filters), created_at__gt=filters.until)
    was_there = Q(before_since__lte=filters.until)
    of_any = (Kind.CONFIRMED, Kind.INVALIDATED)
    counts = later.aggregate(
        **{
            name: Count("trial", distinct=True, filter=Q(kind=kind) & (Q() if kind in of_any else was_there))
            for name, (kind, _) in WORDS.items()
        }
    )
    parts = [f"{_trials(counts[name])} {word}" for name, (_, word) in WORDS.items() if counts[name]]
    since = ", ".join(parts) if parts else "no trial scored or changed"
    return f"As of {utc_minute(filters.until)}. Since then: {since}."


def _trials(count: int) -> str:
    return f"{count:,} trial{'' if count == 1 else 's'}"
