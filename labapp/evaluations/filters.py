"""Filters of an evaluation's rollouts, in the address: a link shows the same list."""

from collections.abc import Sequence

import django_filters
from django import forms
from django.db.models import Q, QuerySet

from labapp.evaluations.models import Evaluation, SimulatedRollout
from labapp.studies.filters import WordsFilter
from labapp.studies.models import FailureMode

OUTCOMES = [("success", "success"), ("failure", "any failure"), *FailureMode.choices, ("invalid", "invalid")]


class RolloutFilter(django_filters.FilterSet):
    """Policy (an arm's code, or a name where there is no arm), condition, outcome; words, never row numbers."""

    policy = django_filters.ChoiceFilter(method="of_policy", label="Policy", empty_label="All policies")
    condition = django_filters.ChoiceFilter(
        field_name="condition__slug", label="Condition", empty_label="All conditions"
    )
    conditions = WordsFilter(field_name="condition__slug", lookup_expr="in", widget=forms.HiddenInput)
    outcome = django_filters.ChoiceFilter(
        choices=OUTCOMES, method="by_outcome", label="Outcome", empty_label="Any outcome"
    )

    class Meta:
        model = SimulatedRollout
        fields = ()

    def __init__(self, *args, evaluation: Evaluation, policies: Sequence[tuple[str, str]], **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.filters["policy"].extra["choices"] = policies
        self.filters["condition"].extra["choices"] = [(c.slug, c.label) for c in evaluation.conditions.all()]

    def of_policy(self, rollouts: QuerySet, name: str, value: str) -> QuerySet:
        alone = Q(policy__evaluation__study=None, policy__checkpoint__policy__name=value)
        return rollouts.filter(Q(policy__arm__code=value) | alone)

    def by_outcome(self, rollouts: QuerySet, name: str, value: str) -> QuerySet:
        if value == "invalid":
            return rollouts.exclude(invalid_reason="")
        counted = rollouts.counted()
        if value in ("success", "failure"):
            return counted.filter(is_success=value == "success")
        return counted.filter(failure_mode=value)
