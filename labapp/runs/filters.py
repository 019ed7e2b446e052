"""What the list of runs, as a page and over the API, can be narrowed and sorted by."""

import django_filters
from django import forms

from labapp.runs.kinds import kind_labels
from labapp.runs.models import Run


class RunFilter(django_filters.FilterSet):
    search = django_filters.CharFilter(
        field_name="title",
        lookup_expr="icontains",
        label="Title",
        widget=forms.TextInput(attrs={"type": "search", "placeholder": "Filter by title…"}),
    )
    kind = django_filters.ChoiceFilter(choices=lambda: kind_labels().items(), empty_label="Every kind")
    status = django_filters.ChoiceFilter(choices=Run.Status.choices, empty_label="Every status")
    sort = django_filters.OrderingFilter(
        fields={"created_at": "created", "title": "title", "status": "status", "finished_at": "finished"},
        empty_label="Newest first",
    )

    class Meta:
        model = Run
        fields: list[str] = []
