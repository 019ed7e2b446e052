"""The trials before and after one, within a filter."""

from dataclasses import dataclass
from uuid import UUID

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
    """In the filter's order; without one by start (server's clock), then key: trials of one instant keep an order."""
    kept = filter_query(trial.study, query)
    rows = filtered(trial, kept)
    if "sort" in QueryDict(kept):
        return among(list(rows.values_list("pk", flat=True)), trial, kept)
    before, after = rows.filter(_began_before(trial)), rows.filter(_began_after(trial))
    return Neighbours(
        previous=before.order_by("-started_at", "-pk").first(),
        next=after.order_by("started_at", "pk").first(),
        number=before.count() + 1,
        count=rows.count(),
        query=kept,
    )


def _began_before(trial: Trial) -> Q:
    """Trials of which nobody knows when they began stand last."""
    here = trial.started_at
    if here is None:
        return Q(started_at__isnull=False) | Q(pk__lt=trial.pk)
    return Q(started_at__lte=here) & (Q(started_at__lt=here) | Q(pk__lt=trial.pk))


def _began_after(trial: Trial) -> Q:
    here = trial.started_at
    if here is None:
        return Q(started_at__isnull=True, pk__gt=trial.pk)
    return Q(started_at__isnull=True) | Q(started_at__gte=here) & (Q(started_at__gt=here) | Q(pk__gt=trial.pk))


def among(keys: list[UUID], trial: Trial, query: str) -> Neighbours:
    """Its place among the filter's sorted keys; one that the filter does not hold stands before them all."""
    at = keys.index(trial.pk) if trial.pk in keys else -1
    around = Trial.objects.select_related("study").in_bulk([*keys[max(0, at - 1) : max(0, at)], *keys[at + 1 : at + 2]])
    return Neighbours(
        previous=around.get(keys[at - 1]) if at > 0 else None,
        next=around.get(keys[at + 1]) if at + 1 < len(keys) else None,
        number=at + 1,
        count=len(keys),
        query=query,
    )


def filtered(trial: Trial, query: str) -> QuerySet[Trial]:
    """The trials of the filter; a filter that cannot be read filters nothing."""
    rows = trial.study.trials.select_related("study")
    found = TrialFilter(QueryDict(query), rows, study=trial.study)
    return found.qs if found.is_valid() else rows
