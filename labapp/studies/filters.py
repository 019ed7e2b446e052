"""Filters of trial lists; the URL's query is a permalink."""

import django_filters
from django import forms
from django.db.models import Exists, OuterRef, QuerySet

from labapp.studies.browser.models import TrialFlag, TrialNote
from labapp.studies.models import FailureMode, Study, Trial

OUTCOMES = [("success", "success"), ("failure", "any failure"), *FailureMode.choices]


class WordsFilter(django_filters.BaseInFilter, django_filters.CharFilter):
    """Several words with commas between."""


class TrialFilter(django_filters.FilterSet):
    """Arm (by code), condition, status, outcome, flag. Words in the query, never row numbers."""

    arm = django_filters.ChoiceFilter(field_name="arm__code", label="Code", empty_label="All codes")
    condition = django_filters.ChoiceFilter(
        field_name="condition__slug", label="Condition", empty_label="All conditions"
    )
    conditions = WordsFilter(field_name="condition__slug", lookup_expr="in", widget=forms.HiddenInput)
    status = django_filters.ChoiceFilter(choices=Trial.Status.choices, label="Status", empty_label="Any status")
    outcome = django_filters.ChoiceFilter(
        choices=OUTCOMES, method="by_outcome", label="Outcome", empty_label="Any outcome"
    )
    flag = django_filters.ChoiceFilter(
        choices=[("any", "any flag"), ("note", "any note"), *TrialFlag.Label.choices],
        method="by_flag",
        label="Flag",
        empty_label="Flagged or not",
    )
    block = django_filters.NumberFilter(field_name="slot__block", label="Block", widget=forms.HiddenInput)

    class Meta:
        model = Trial
        fields = ()

    def __init__(self, *args, study: Study, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.filters["arm"].extra["choices"] = [(arm.code, arm.code) for arm in study.arms.all()]
        self.filters["condition"].extra["choices"] = list(study.conditions.values_list("slug", "label"))

    def by_outcome(self, trials: QuerySet[Trial], name: str, value: str) -> QuerySet[Trial]:
        if value in ("success", "failure"):
            return trials.filter(is_success=value == "success")
        return trials.filter(failure_mode=value)

    def by_flag(self, trials: QuerySet[Trial], name: str, value: str) -> QuerySet[Trial]:
        model = TrialNote if value == "note" else TrialFlag
        there = model.objects.filter(trial=OuterRef("pk"), deleted_at=None)
        if value in TrialFlag.Label.values:
            there = there.filter(label=value)
        return trials.filter(Exists(there))
