"""The rollouts of an evaluation: their list and its CSV, and one of them to be watched as a trial is."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    JsonResponse,
    QueryDict,
    StreamingHttpResponse,
)
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from labapp.accounts.roles import EVERYONE, role_required
from labapp.evaluations import recordings, selectors
from labapp.evaluations.filters import DEFAULT_ORDER, RolloutFilter, filter_query
from labapp.evaluations.models import Evaluation, SimulatedRollout
from labapp.evaluations.selectors import visible_or_error_page
from labapp.studies.browser.lists import heads
from labapp.studies.export import csv_lines
from labapp.studies.models import Trial
from labapp.studies.recording import RecordingMissing
from labapp.studies.series import trial_series

PER_PAGE = 50
ROWS = ("policy__evaluation__study", "policy__arm", "policy__checkpoint__policy", "condition__condition", "folder")
# Head of a column, its word in `sort`, whether it holds numbers.
COLUMNS = (
    ("Rollout", "rollout", False), ("Policy", "policy", False), ("Condition", "condition", False),
    ("Object", "object", False), ("Bin", "bin", False), ("Belt", "belt", True), ("Outcome", "outcome", False),
    ("Furthest stage", "stage", False), ("Time", "time", True), ("Seed", "seed", True),
)  # fmt: skip
HEADER = [
    "rollout", "code", "policy", "condition", "object", "bin", "belt_speed_m_s", "seed", "outcome", "furthest_stage",
    "failure_mode", "time_s", "invalid_reason", "is_simulated", "is_recorded",
]  # fmt: skip


@require_safe
@role_required(*EVERYONE)
def rollout_list(request: HttpRequest, pk: int) -> HttpResponse:
    found = visible_or_error_page(request.user, pk)
    names = names_of(request, found)
    chosen, query = filtered(request.GET, found, names), filter_query(request.GET)
    page = Paginator(chosen.qs.select_related(*ROWS), PER_PAGE).get_page(request.GET.get("page"))
    for row in page:
        row.policy_name = names.by_key[row.policy_id]
    context = {
        "evaluation": found,
        "filter": chosen,
        "page": page,
        "query": query,
        "heads": heads(query, COLUMNS),
        "shows_names": names.are_names,
    }
    answer = render(request, "evaluations/rollouts.html", context)
    if request.htmx:  # the address holds the filters that are set, not the empty ones of the form
        answer["HX-Push-Url"] = reverse("evaluations:rollouts", args=[pk]) + (f"?{query}" if query else "")
    return answer


@require_safe
@role_required(*EVERYONE)
def rollout_csv(request: HttpRequest, pk: int) -> HttpResponseBase:
    """All filtered rollouts in their order; of a blinded study policies keep their codes.

    A filter that cannot be applied is said on the list: a file without it would hold other rows than asked for.
    """
    found = visible_or_error_page(request.user, pk)
    names = names_of(request, found)
    chosen = filtered(request.GET, found, names)
    if not chosen.is_valid():
        return redirect(f"{reverse('evaluations:rollouts', args=[pk])}?{filter_query(request.GET)}")
    rows = csv_rows(chosen.qs.select_related("condition"), names)
    headers = {"Content-Disposition": f'attachment; filename="evaluation-{found.pk}-rollouts.csv"'}
    return StreamingHttpResponse(csv_lines(rows), content_type="text/csv; charset=utf-8", headers=headers)


@require_safe
@role_required(*EVERYONE)
def rollout(request: HttpRequest, pk: int, code: str, number: int) -> HttpResponse:
    """One rollout: every view on one playhead, joints and commands, and who else began as it did."""
    evaluation = visible_or_error_page(request.user, pk)
    names = names_of(request, evaluation)
    found = rollout_or_404(evaluation, names, code, number)
    context = {
        "evaluation": evaluation,
        "study": evaluation.study,
        "rollout": found,
        "policy_name": names.by_key[found.policy_id],
        "videos": recordings.videos_of(found),
        "events": recordings.events_of(found),
        "around": around(found, filtered(request.GET, evaluation, names), filter_query(request.GET)),
        "same_start": same_start(found, names),
        "trials": trials_of_start(found),
    }
    return render(request, "evaluations/rollout.html", context)


@require_safe
@role_required(*EVERYONE)
def series(request: HttpRequest, pk: int, code: str, number: int) -> JsonResponse:
    """Joint positions and commands of a rollout, as the plot of a trial takes them."""
    evaluation = visible_or_error_page(request.user, pk)
    found = rollout_or_404(evaluation, names_of(request, evaluation), code, number)
    try:
        table = recordings.table_of(found)
    except RecordingMissing as error:
        return JsonResponse({"detail": str(error)}, status=404)
    return JsonResponse(trial_series(table) | {"attributions": []})


@dataclass(frozen=True)
class Names:
    """What the policies of an evaluation are called before a person: word of the address -> key, key -> name."""

    by_word: dict[str, int]
    by_key: dict[int, str]
    are_names: bool

    def choices(self) -> list[tuple[str, int, str]]:
        return [(word, key, self.by_key[key]) for word, key in self.by_word.items()]


def names_of(request: HttpRequest, evaluation: Evaluation) -> Names:
    with_names = selectors.shows_names(request.user, evaluation)
    policies = selectors.policies_of(evaluation, with_names)
    words = {policy.word: policy.pk for policy, _, _ in policies}
    return Names(words, {policy.pk: name for policy, name, _ in policies}, with_names)


def filtered(query: QueryDict, evaluation: Evaluation, names: Names) -> RolloutFilter:
    rows = selectors.rollouts_of(evaluation).order_by(*DEFAULT_ORDER)
    return RolloutFilter(query, rows, evaluation=evaluation, policies=names.choices())


def rollout_or_404(evaluation: Evaluation, names: Names, code: str, number: int) -> SimulatedRollout:
    rows = selectors.rollouts_of(evaluation).select_related(*ROWS)
    found = rows.filter(policy=names.by_word.get(code), number=number - 1).first()
    if found is None:
        raise Http404(f"This evaluation has no rollout {number} of {code}.")
    return found


@dataclass(frozen=True)
class Around:
    """Its place in the filter, from 1 (0: not in it), and the rollouts before and after it."""

    previous: SimulatedRollout | None
    next: SimulatedRollout | None
    number: int
    count: int
    query: str


def around(found: SimulatedRollout, chosen: RolloutFilter, query: str) -> Around:
    keys = list(chosen.qs.values_list("pk", flat=True))
    at = keys.index(found.pk) if found.pk in keys else -1
    before, after = keys[max(at - 1, 0) : max(at, 0)], keys[at + 1 : at + 2]
    rows = SimulatedRollout.objects.select_related(*ROWS).in_bulk([*before, *after])
    previous, following = (rows[beside[0]] if beside else None for beside in (before, after))
    return Around(previous, following, at + 1, len(keys), query)


def same_start(found: SimulatedRollout, names: Names) -> list[SimulatedRollout]:
    """What the other policies made of the same start."""
    rows = selectors.rollouts_of(found.policy.evaluation).filter(number=found.number).exclude(pk=found.pk)
    others = list(rows.select_related(*ROWS).order_by("policy__arm__code", "policy_id"))
    for other in others:
        other.policy_name = names.by_key[other.policy_id]
    return others


def trials_of_start(found: SimulatedRollout) -> Sequence[Trial]:
    """The study's own trials that began as this rollout did, of any arm."""
    study, condition = found.policy.evaluation.study, found.condition.condition
    if study is None or condition is None:
        return []
    start = {"slot__seed": found.seed, "slot__object__name": found.object_name, "slot__bin": found.bin}
    rows = study.trials.filter(condition=condition, status=Trial.Status.CONFIRMED, **start)
    return rows.select_related("study", "slot", "arm").order_by("arm__code", "started_at")


def csv_rows(found: QuerySet[SimulatedRollout], names: Names) -> Iterator[list[Any]]:
    yield HEADER
    words = {key: word for word, key in names.by_word.items()}
    for row in found.iterator(chunk_size=2000):
        ended = "invalid" if row.invalid_reason else "success" if row.is_success else "failure"
        start = [row.condition.slug, row.object_name, row.bin, row.belt_speed, row.seed]
        outcome = [ended, row.furthest_stage, row.failure_mode, row.time_s, row.invalid_reason]
        policy = [words[row.policy_id], names.by_key[row.policy_id]]
        yield [row.number + 1, *policy, *start, *outcome, True, row.is_recorded]
