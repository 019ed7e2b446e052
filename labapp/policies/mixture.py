"""A form field for a training mixture: every ready source with a weight, empty where it is left out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from labapp.datasets.models import SimulatedDataset
from labapp.demos.models import DemonstrationSet
from labapp.policies.services import Component

PREFIX = "weight-"


@dataclass(frozen=True)
class Source:
    """A row that can be part of a mixture; ``key`` names its input."""

    key: str
    row: DemonstrationSet | SimulatedDataset

    @property
    def is_real(self) -> bool:
        return isinstance(self.row, DemonstrationSet)

    @property
    def episodes(self) -> int:
        return self.row.episodes if self.is_real else self.row.trajectories


def sources() -> list[Source]:
    """Everything ready to be trained on: demonstrations first."""
    sets = DemonstrationSet.objects.filter(ready_at__isnull=False)
    datasets = SimulatedDataset.objects.filter(ready_at__isnull=False).select_related("configuration__world__cell")
    return [Source(f"set-{row.pk}", row) for row in sets] + [Source(f"dataset-{row.pk}", row) for row in datasets]


class MixtureWidget(forms.Widget):
    """A table of sources with one weight each; its value is what was typed, by key."""

    template_name = "widgets/mixture.html"
    use_fieldset = True

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> dict[str, str]:
        return {key.removeprefix(PREFIX): text for key, text in data.items() if key.startswith(PREFIX) and text.strip()}

    def value_omitted_from_data(self, data: Mapping[str, Any], files: Any, name: str) -> bool:
        return not any(key.startswith(PREFIX) for key in data)

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        typed = value if isinstance(value, Mapping) else {}
        rows = [(source, f"{PREFIX}{source.key}", typed.get(source.key, "")) for source in sources()]
        context["rows"] = rows
        return context

    def format_value(self, value: Any) -> Any:
        return value


class MixtureField(forms.Field):
    """The chosen sources with their weights."""

    widget = MixtureWidget

    def to_python(self, value: dict[str, str] | None) -> list[Component]:
        known = {source.key: source.row for source in sources()}
        return [Component(_row(known, key), _weight(known[key], text)) for key, text in (value or {}).items()]

    def validate(self, value: list[Component]) -> None:
        """What can be trained together is decided by the service, for forms and API alike."""


def _row(known: dict[str, Any], key: str) -> DemonstrationSet | SimulatedDataset:
    if key not in known:
        raise ValidationError("One of the sources was removed; look at the list again.")
    return known[key]


def _weight(row: DemonstrationSet | SimulatedDataset, text: str) -> float:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        raise ValidationError(f"{row}: “{text}” is no number.") from None
