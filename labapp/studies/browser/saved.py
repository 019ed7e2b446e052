"""Saved filters: a name for the query of a trials page."""

from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet
from django.http import QueryDict

from labapp.accounts.models import User
from labapp.studies.browser.blinding import check_text
from labapp.studies.browser.models import SavedFilter
from labapp.studies.filters import TrialFilter
from labapp.studies.models import Study

LONGEST = 500  # characters of a saved query


def filters_for(study: Study, user: User) -> QuerySet[SavedFilter]:
    """One's own and the shared ones."""
    mine_or_shared = study.saved_filters.filter(Q(owner=user) | Q(is_shared=True))
    return mine_or_shared.select_related("owner", "study").order_by("name", "pk")


def filter_save(*, study: Study, owner: User, name: str, query: str, is_shared: bool) -> SavedFilter:
    """Keep a filter under a name; one's own filter of that name is replaced.

    Raises:
        ValidationError: no name, a name that tells a policy, nothing filtered, or too long a filter.
    """
    name = check_text(study, owner, name, field="name")
    if not name or len(name) > 60:
        raise ValidationError({"name": "Give it a name of at most 60 characters."})
    kept = filter_query(study, query)
    if not kept:
        raise ValidationError({"query": "Choose a filter first: all trials need no name."})
    if len(kept) > LONGEST:
        text = f"This filter has {len(kept)} characters; at most {LONGEST} are kept: choose fewer arms or conditions."
        raise ValidationError({"query": text})
    saved, _ = SavedFilter.objects.update_or_create(
        study=study, owner=owner, name=name, defaults={"query": kept, "is_shared": is_shared}
    )
    return saved


def filter_delete(*, study: Study, owner: User, filter_id: int) -> int:
    """Forget one of one's own filters; returns how many there were (0 or 1)."""
    return SavedFilter.objects.filter(study=study, owner=owner, pk=filter_id).delete()[0]


def filter_query(study: Study, query: str) -> str:
    """The query with the filters of a trials page only, in their order: pages, moments and strange words fall away."""
    given = QueryDict(query)
    kept = QueryDict(mutable=True)
    for name in TrialFilter(given, study.trials.none(), study=study).filters:
        if value := given.get(name, "").strip():
            kept[name] = value
    return kept.urlencode()
