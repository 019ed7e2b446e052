"""Filters and order of an evaluation's rollouts, in the address: a link shows the same list."""

from collections.abc import Sequence
from typing import Any

import django_filters
from django import forms
from django.db.models import Case, F, IntegerField, Q, QuerySet, Value, When
from django.http import QueryDict

from labapp.evaluations.models import Evaluation, SimulatedRollout
from labapp.studies.filters import ListFilter, WordsFilter
from labapp.studies.models import FailureMode, Stage

OUTCOMES = [
    ("success", "success"),
    ("failure", "any failure"),
    *FailureMode.choices,
    ("counted", "success or failure"),
    ("invalid", "invalid"),
]
DEFAULT_ORDER = ("number", "policy__arm__code", "policy_id")
# Word in the query -> what is sorted by; "-" before the word turns it round. A policy is sorted by its code.
SORTS: dict[str, Any] = {
    "rollout": F("number"),
    "policy": F("policy__arm__code"),
    "condition": F("condition__order"),
    "object": F("object_name"),
    "bin": F("bin"),
    "belt": F("belt_speed"),
    "outcome": Case(When(~Q(invalid_reason=""), then=Value(2)), When(is_success=True, then=Value(0)), default=Value(1)),
    "stage": Case(
        *(When(furthest_stage=stage, then=Value(order)) for order, stage in enumerate(Stage.values)),
        output_field=IntegerField(),
    ),
    "time": F("time_s"),
    "seed": F("seed"),
}


class RolloutFilter(ListFilter):
    """What may be asked of the list. Words, never row numbers: a policy is an arm's code, or a name where no arm is."""

    policy = django_filters.ChoiceFilter(method="of_policy", label="Policy", empty_label="All policies")
    condition = django_filters.ChoiceFilter(
        field_name="condition__slug", label="Condition", empty_label="All conditions"
    )
    object = django_filters.ChoiceFilter(field_name="object_name", label="Object", empty_label="All objects")
    outcome = django_filters.ChoiceFilter(
        choices=OUTCOMES, method="by_outcome", label="Outcome", empty_label="Any outcome"
    )
    stage = django_filters.ChoiceFilter(
        field_name="furthest_stage", choices=Stage.choices, label="Furthest stage", empty_label="Any stage"
    )
    conditions = WordsFilter("condition__slug")
    sort = django_filters.ChoiceFilter(
        choices=[(sign + word, word) for word in SORTS for sign in ("", "-")],
        method="by_sort",
        label="Order",
        widget=forms.HiddenInput,
    )

    class Meta:
        model = SimulatedRollout
        fields = ()

    def __init__(self, *args, evaluation: Evaluation, policies: Sequence[tuple[str, int, str]], **kwargs) -> None:
        """``policies``: of each the word in the address, its key, and what people read."""
        super().__init__(*args, **kwargs)
        conditions = list(evaluation.conditions.all())
        self.keys = {word: key for word, key, _ in policies}
        self.filters["policy"].extra["choices"] = [(word, name) for word, _, name in policies]
        self.filters["condition"].extra["choices"] = [(c.slug, c.label) for c in conditions]
        names = sorted({name for condition in conditions for name in condition.object_names})
        self.filters["object"].extra["choices"] = [(name, name) for name in names]

    def of_policy(self, rollouts: QuerySet, name: str, value: str) -> QuerySet:
        return rollouts.filter(policy=self.keys[value])

    def by_outcome(self, rollouts: QuerySet, name: str, value: str) -> QuerySet:
        if value == "invalid":
            return rollouts.exclude(invalid_reason="")
        counted = rollouts.counted()
        if value == "counted":
            return counted
        if value in ("success", "failure"):
            return counted.filter(is_success=value == "success")
        return counted.filter(failure_mode=value)

    def by_sort(self, rollouts: QuerySet, name: str, value: str) -> QuerySet:
        """Rollouts with the same value keep the order of their numbers."""
        key = SORTS[value.removeprefix("-")]
        order = key.desc(nulls_last=True) if value.startswith("-") else key.asc(nulls_last=True)
        return rollouts.order_by(order, *DEFAULT_ORDER)


def filter_query(query: QueryDict) -> str:
    """The part of an address that chooses rollouts, without what is empty."""
    kept = QueryDict(mutable=True)
    for name, values in query.lists():
        if name in RolloutFilter.base_filters and (found := [v for v in values if v]):
            kept.setlist(name, found[-1:])
    return kept.urlencode()
