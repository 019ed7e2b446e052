"""The list of a study's trials: filtered, sorted, by the page, as CSV; quick also with a hundred thousand of them."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from labapp.accounts.roles import EVERYONE, role_required
from labapp.studies.browser.models import TrialFlag, TrialNote
from labapp.studies.browser.saved import filter_query, filters_for
from labapp.studies.export import csv_lines, trial_rows
from labapp.studies.filters import DEFAULT_ORDER, TrialFilter
from labapp.studies.history import as_of, put_back
from labapp.studies.models import Study, Trial
from labapp.studies.selectors import sees_policies

PAGE_SIZE = 50
ROWS = ("study", "slot__object", "arm", "condition", "operator")
# Head of a column, its word in `sort` (None: not sorted by), whether it holds numbers.
COLUMNS = (
    ("Trial", "trial", False), ("Flags", None, False), ("Code", "code", False), ("Condition", "condition", False),
    ("Object", "object", False), ("Outcome", "outcome", False), ("Stage", "stage", False),
    ("Time", "time", True), ("Operator", "operator", False), ("Started", "started", False),
)  # fmt: skip


@require_safe
@role_required(*EVERYONE)
def trial_list(request: HttpRequest, slug: str) -> HttpResponse:
    study = get_object_or_404(Study.objects.select_related("cell"), slug=slug)
    is_open, chosen = sees_policies(request.user, study), filtered(request, study)
    query = filter_query(study, request.GET.urlencode())
    context = {
        "study": study,
        "filter": chosen,
        "page": trial_page(chosen, request.GET.get("page")),
        "query": query,
        "query_items": QueryDict(query).items(),
        "heads": heads(query),
        "moment": chosen.moment,
        "query_now": without(query, "until"),
        "saved_filters": filters_for(study, request.user),
        "sees_policies": is_open,
    }
    answer = render(request, "studies/trials.html", context)
    if request.htmx:  # the address holds the filters that are set, not the empty ones of the form
        answer["HX-Push-Url"] = reverse("studies:trials", args=[slug]) + (f"?{query}" if query else "")
    return answer


@require_safe
@role_required(*EVERYONE)
def trial_csv(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The filtered trials in their order; policies are named only for those who may know them.

    A filter that cannot be applied is said on the list: a file without it would hold other trials than asked for.
    """
    study = get_object_or_404(Study.objects.select_related("cell"), slug=slug)
    chosen = filtered(request, study)
    if not chosen.is_valid():
        return redirect(f"{reverse('studies:trials', args=[slug])}?{request.GET.urlencode()}")
    found = chosen.qs.select_related(*ROWS)
    lines = csv_lines(trial_rows(found, with_policies=sees_policies(request.user, study)))
    headers = {"Content-Disposition": f'attachment; filename="{study.slug}-trials.csv"'}
    return StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8", headers=headers)


def without(query: str, name: str) -> str:
    values = QueryDict(query, mutable=True)
    values.pop(name, None)
    return values.urlencode()


def filtered(request: HttpRequest, study: Study) -> TrialFilter:
    return TrialFilter(request.GET, study.trials.order_by(*DEFAULT_ORDER), study=study)


def trial_page(chosen: TrialFilter, number: str | None) -> Page:
    """A page of the filtered trials, each with its ``flags`` and ``note_count``.

    Keys come first, from an index alone; only the page's own rows are read whole.
    """
    page = Paginator(chosen.qs.values_list("pk", flat=True), PAGE_SIZE).get_page(number)
    keys = list(page.object_list)
    rows = as_of(Trial.objects.select_related(*ROWS), chosen.moment).in_bulk(keys)
    page.object_list = with_remarks(list(put_back(rows[key] for key in keys)))
    return page


def with_remarks(trials: list[Trial]) -> list[Trial]:
    """Each trial with ``flags`` (words, in their order) and ``note_count``."""
    keys = [trial.pk for trial in trials]
    flags = defaultdict(list)
    for flag in TrialFlag.objects.filter(trial__in=keys, deleted_at=None):
        flags[flag.trial_id].append(flag.get_label_display())
    notes = dict(_note_counts(keys))
    for trial in trials:
        trial.flags, trial.note_count = flags[trial.pk], notes.get(trial.pk, 0)
    return trials


def _note_counts(keys: list[Any]) -> Iterable[tuple[Any, int]]:
    there = TrialNote.objects.filter(trial__in=keys, deleted_at=None).order_by()
    return there.values("trial").annotate(n=Count("pk")).values_list("trial", "n")


@dataclass(frozen=True)
class Head:
    """Head of a column; ``query`` sorts by it: up, down, and not at all in turn. ``direction`` is aria-sort's word."""

    label: str
    is_number: bool
    query: str | None
    direction: str


def heads(query: str, columns: Iterable[tuple[str, str | None, bool]] = COLUMNS) -> list[Head]:
    current = QueryDict(query).get("sort", "")
    return [_head(label, word, is_number, query, current) for label, word, is_number in columns]


def _head(label: str, word: str | None, is_number: bool, query: str, current: str) -> Head:
    if word is None:
        return Head(label, is_number, None, "")
    following = {word: f"-{word}", f"-{word}": ""}.get(current, word)
    values = QueryDict(query, mutable=True)
    values.pop("sort", None)
    if following:
        values["sort"] = following
    return Head(label, is_number, values.urlencode(), {word: "ascending", f"-{word}": "descending"}.get(current, ""))
