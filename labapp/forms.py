"""From a form to a service and back: what the service refuses becomes errors of the form's fields."""

from collections.abc import Callable
from typing import Any, TypeVar

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db.models import Model

from labapp.names import check_name
from labapp.options import errors_of, field_names
from robots.errors import ConfigError

T = TypeVar("T")


def submitted(form: forms.Form, service: Callable[[dict[str, Any]], T]) -> T | None:
    """What the service made of a valid form; None when the form was not sent, or has errors to show now."""
    if not form.is_valid():
        return None
    try:
        return service(form.cleaned_data)
    except (ValidationError, ConfigError) as error:
        show_errors(form, error)
    return None


def show_errors(form: forms.Form, error: ValidationError | ConfigError) -> None:
    """Every problem at its field; what is of no field of this form is named and shown on top."""
    for field, problems in field_errors(error).items():
        form.add_error(field if field in form.fields else None, _named(field, problems, form))


class OptionsForm(forms.Form):
    """A form whose fields include those of an options dataclass; valid, it has them as ``options``."""

    options_class: type[Any]

    def clean(self) -> dict[str, Any]:
        """Fields that cannot be read keep their default here, so that the others are checked all the same."""
        values = super().clean()
        names = field_names(self.options_class)
        try:
            values["options"] = self.options_class(**{name: values[name] for name in names if name in values})
        except ConfigError as error:
            show_errors(self, error)
        return {name: value for name, value in values.items() if name not in names}


def field_errors(error: ValidationError | ConfigError) -> dict[str, list[str]]:
    """Messages by field; those of no field are under ``__all__``."""
    if isinstance(error, ConfigError):
        found: dict[str, list[str]] = {}
        for one in errors_of(error):
            found.setdefault(_field(one.field), []).append(f"{one.message[:1].upper()}{one.message[1:]}.")
        return found
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


class NameField(forms.CharField):
    """A name for a new row of the model, free and fit for an address."""

    def __init__(self, model: type[Model], **kwargs: Any) -> None:
        self.model = model
        super().__init__(max_length=model._meta.get_field("name").max_length, **kwargs)

    def clean(self, value: Any) -> str:
        name = super().clean(value)
        try:
            return check_name(self.model, name)
        except ValidationError as error:
            raise ValidationError(error.message_dict["name"]) from error


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
