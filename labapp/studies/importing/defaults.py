"""The mapping that scripts get when they name none: the same guess that the browser's form starts with."""

from collections.abc import Sequence

from labapp.studies.importing.forms import MappingForm
from labapp.studies.importing.tables import ImportMapping, TableFile


def guess_import(files: Sequence[TableFile]) -> ImportMapping:
    """The guess for these files, as the mapping form shows it."""
    form = MappingForm(files)
    values = {name: form.get_initial_for_field(field, name) for name, field in form.fields.items()}
    sent = MappingForm(files, {name: value for name, value in values.items() if value} | {"name": "guess"})
    sent.is_valid()
    return sent.mapping()
