"""Filters and order of trial lists; the URL's query is a permalink."""

from datetime import datetime
from typing import Any

import django_filters
from django import forms
from django.db.models import Case, Exists, F, IntegerField, OuterRef, QuerySet, Value, When
from django.db.models.functions import Coalesce, NullIf
from django_filters.widgets import BaseCSVWidget

from labapp.accounts.models import User
from labapp.studies.browser.models import TrialFlag, TrialNote
from labapp.studies.history import as_of
from labapp.studies.models import FailureMode, Stage, Study, Trial

OUTCOMES = [("success", "success"), ("failure", "any failure"), *FailureMode.choices]
DEFAULT_ORDER = ("started_at", "pk")
STAGE_ORDER = Case(
    *(When(furthest_stage_then=stage, then=Value(order)) for order, stage in enumerate(Stage.values)),
    output_field=IntegerField(),
)
# Word in the query -> what is sorted by; "-" before the word turns it round. Trials without a value come last.
SORTS: dict[str, Any] = {
    "trial": F("slot__position"),
    "code": F("arm__code"),
    "condition": F("condition__order"),
    "object": F("slot__object__label"),
    "outcome": F("is_success_then"),
    "stage": STAGE_ORDER,
    "time": F("duration_s_then"),
    "operator": Coalesce(F("operator__username"), NullIf(F("operator_label"), Value(""))),
    "started": F("started_at"),
}


class HiddenWords(BaseCSVWidget, forms.HiddenInput):
    """Carries several words along in a form; the library's own turns into a text field from two words on."""

    surrogate = forms.HiddenInput


class WordsFilter(django_filters.BaseInFilter, django_filters.CharFilter):
    """Several words with commas between: a link of the results page sets them, no field of the form does."""

    def __init__(self, field_name: str) -> None:
        super().__init__(field_name=field_name, lookup_expr="in", widget=HiddenWords)


class ListFilter(django_filters.FilterSet):
    """Filters of a list that a form shows in part."""

    told_apart = ("arms", "conditions", "reached", "block")

    def told(self) -> list[str]:
        """What is asked for beyond the fields that show."""
        asked = {name: self.data.get(name, "") for name in self.told_apart if name in self.filters}
        return [f"{name}: {words.replace(',', ', ')}" for name, words in asked.items() if words]


class TrialFilter(ListFilter):
    """What may be asked of a list, and its order. Words in the query, never row numbers; arms by their codes."""

    arm = django_filters.ChoiceFilter(field_name="arm__code", label="Code", empty_label="All codes")
    condition = django_filters.ChoiceFilter(
        field_name="condition__slug", label="Condition", empty_label="All conditions"
    )
    object = django_filters.ChoiceFilter(field_name="slot__object__name", label="Object", empty_label="All objects")
    arms = WordsFilter("arm__code")
    conditions = WordsFilter("condition__slug")
    status = django_filters.ChoiceFilter(
        field_name="status_then", choices=Trial.Status.choices, label="Status", empty_label="Any status"
    )
    outcome = django_filters.ChoiceFilter(
        choices=OUTCOMES, method="by_outcome", label="Outcome", empty_label="Any outcome"
    )
    stage = django_filters.ChoiceFilter(
        field_name="furthest_stage_then", choices=Stage.choices, label="Furthest stage", empty_label="Any stage"
    )
    reached = django_filters.ChoiceFilter(choices=Stage.choices, method="by_reached", widget=forms.HiddenInput)
    until = django_filters.IsoDateTimeFilter(method="by_until", widget=forms.HiddenInput)
    operator = django_filters.ChoiceFilter(
        field_name="operator__username", label="Operator", empty_label="All operators"
    )
    flag = django_filters.ChoiceFilter(
        choices=[("any", "any flag"), ("note", "any note"), *TrialFlag.Label.choices],
        method="by_flag",
        label="Flag",
        empty_label="Flagged or not",
    )
    block = django_filters.NumberFilter(field_name="slot__block", label="Block", widget=forms.HiddenInput)
    sort = django_filters.ChoiceFilter(
        choices=[(sign + word, word) for word in SORTS for sign in ("", "-")],
        method="by_sort",
        label="Order",
        widget=forms.HiddenInput,
    )

    class Meta:
        model = Trial
        fields = ()

    def __init__(self, *args, study: Study, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.filters["arm"].extra["choices"] = [(arm.code, arm.code) for arm in study.arms.all()]
        self.filters["condition"].extra["choices"] = list(study.conditions.values_list("slug", "label"))
        objects = study.cell.cell_objects.all() if study.cell else []
        self.filters["object"].extra["choices"] = [(thing.name, thing.label) for thing in objects]
        self.filters["operator"].extra["choices"] = [(name, name) for name in operators(study)]

    def filter_queryset(self, trials: QuerySet[Trial]) -> QuerySet[Trial]:
        """Outcomes are those of the moment that ``until`` names, in columns that end in ``_then``."""
        return super().filter_queryset(as_of(trials, self.moment))

    @property
    def moment(self) -> datetime | None:
        """The one whose outcomes are shown; None for now."""
        return self.form.cleaned_data.get("until") if self.is_valid() else None

    def by_until(self, trials: QuerySet[Trial], name: str, value: datetime) -> QuerySet[Trial]:
        """Done by `filter_queryset`, before the other filters."""
        return trials

    def by_outcome(self, trials: QuerySet[Trial], name: str, value: str) -> QuerySet[Trial]:
        if value in ("success", "failure"):
            return trials.filter(is_success_then=value == "success")
        return trials.filter(failure_mode_then=value)

    def by_reached(self, trials: QuerySet[Trial], name: str, value: str) -> QuerySet[Trial]:
        """Trials that got to this stage or further."""
        return trials.filter(furthest_stage_then__in=Stage.values[Stage.values.index(value) :])

    def by_flag(self, trials: QuerySet[Trial], name: str, value: str) -> QuerySet[Trial]:
        model = TrialNote if value == "note" else TrialFlag
        there = model.objects.filter(trial=OuterRef("pk"), deleted_at=None)
        if value in TrialFlag.Label.values:
            there = there.filter(label=value)
        return trials.filter(Exists(there))

    def by_sort(self, trials: QuerySet[Trial], name: str, value: str) -> QuerySet[Trial]:
        """Trials with the same value keep the order in which they began."""
        key = SORTS[value.removeprefix("-")]
        order = key.desc(nulls_last=True) if value.startswith("-") else key.asc(nulls_last=True)
        return trials.order_by(order, *DEFAULT_ORDER)


def operators(study: Study) -> QuerySet[User]:
    """Names of those who ran trials of a study; one look into an index for each person of the lab."""
    theirs = Trial.objects.filter(study=study, operator=OuterRef("pk"))
    return User.objects.filter(Exists(theirs)).order_by("username").values_list("username", flat=True)
