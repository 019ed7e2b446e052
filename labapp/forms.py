"""From a form to a service and back: what the service refuses becomes errors of the form's fields."""

from collections.abc import Callable
from typing import Any, TypeVar

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError

from robots.errors import ConfigError

T = TypeVar("T")


def submitted(form: forms.Form, service: Callable[[dict[str, Any]], T]) -> T | None:
    """What the service made of a valid form; None when the form was not sent, or has errors to show now."""
    if not form.is_valid():
        return None
    try:
        return service(form.cleaned_data)
    except (ValidationError, ConfigError) as error:
        for field, problems in field_errors(error).items():
            form.add_error(field if field in form.fields else None, _named(field, problems, form))
    return None


def field_errors(error: ValidationError | ConfigError) -> dict[str, list[str]]:
    """Messages by field; those of no field are under ``__all__``."""
    if isinstance(error, ConfigError):
        return {_field(error.field): [error.message]}
    if hasattr(error, "error_dict"):
        return error.message_dict
    return {NON_FIELD_ERRORS: error.messages}


def _field(path: str | None) -> str:
    """``belt_speed[1]`` is a problem of the field ``belt_speed``."""
    return path.split("[")[0].split(".")[0] if path else NON_FIELD_ERRORS


def _named(field: str, problems: list[str], form: forms.Form) -> list[str]:
    if field in form.fields or field == NON_FIELD_ERRORS:
        return problems
    return [f"{field}: {problem}" for problem in problems]


class RangeWidget(forms.MultiWidget):
    """Two numbers side by side, each named for whoever does not see them."""

    template_name = "widgets/range.html"

    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        number = {"step": "any", "inputmode": "decimal"}
        lowest = forms.NumberInput({**number, "aria-label": "lowest"})
        highest = forms.NumberInput({**number, "aria-label": "highest"})
        super().__init__([lowest, highest], attrs)

    def decompress(self, value: tuple[float, float] | None) -> list[float | None]:
        return list(value) if value else [None, None]


class RangeField(forms.MultiValueField):
    """A lowest and a highest number."""

    widget = RangeWidget

    def __init__(self, **kwargs: Any) -> None:
        super().__init__((forms.FloatField(), forms.FloatField()), require_all_fields=True, **kwargs)

    def compress(self, values: list[float]) -> tuple[float, float] | None:
        return (values[0], values[1]) if values else None
