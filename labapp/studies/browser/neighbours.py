"""The trials before and after one, within a filter."""

from dataclasses import dataclass

from django.db.models import Q, QuerySet
from django.http import QueryDict

from labapp.studies.browser.saved import filter_query
from labapp.studies.filters import TrialFilter
from labapp.studies.models import Trial


@dataclass(frozen=True)
class Neighbours:
    """``number`` counts from 1 within the filter; ``query`` is the filter itself, ready for an address."""

    previous: Trial | None
    next: Trial | None
    number: int
    count: int
    query: str


def neighbours(trial: Trial, query: str) -> Neighbours:
    """By start (server's clock) and key, so that trials of the same instant keep an order."""
    kept = filter_query(trial.study, query)
    rows = filtered(trial, kept)
    before = rows.filter(Q(started_at__lt=trial.started_at) | Q(started_at=trial.started_at, pk__lt=trial.pk))
    after = rows.filter(Q(started_at__gt=trial.started_at) | Q(started_at=trial.started_at, pk__gt=trial.pk))
    return Neighbours(
        previous=before.order_by("-started_at", "-pk").first(),
        next=after.order_by("started_at", "pk").first(),
        number=before.count() + 1,
        count=rows.count(),
        query=kept,
    )


def filtered(trial: Trial, query: str) -> QuerySet[Trial]:
    """The trials of the filter; a filter that cannot be read filters nothing."""
    rows = trial.study.trials.select_related("study")
    found = TrialFilter(QueryDict(query), rows, study=trial.study)
    return found.qs if found.is_valid() else rows
