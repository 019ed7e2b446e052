"""Taking back what was never made: its name is free again. What is ready stays, others may rest on it."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import ProtectedError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from labapp.datasets.models import SimulatedDataset
from labapp.demos.models import DemonstrationSet
from labapp.policies.models import Policy

Made = DemonstrationSet | SimulatedDataset | Policy


@transaction.atomic
def row_remove(row: Made) -> None:
    """Delete a row whose run ended without success; the run and its log stay.

    Raises:
        ValidationError: it is ready, still being made, or something rests on it.
    """
    if row.ready_at is not None:
        raise ValidationError(f"{row} is ready and stays: other things may rest on it.")
    if row.run is not None and row.run.is_active:
        raise ValidationError(f"{row} is still being made; cancel its run first.")
    try:
        if isinstance(row, Policy):
            row.checkpoints.all().delete()
        row.delete()
    except ProtectedError as error:
        raise ValidationError(f"{row} stays: something rests on it.") from error


def removed(request: HttpRequest, row: Made, list_name: str) -> HttpResponse:
    """The answer to the button "Remove"."""
    name = str(row)
    try:
        row_remove(row)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
        return redirect(row)
    messages.success(request, f"{name} is removed; its run's log stays.")
    return redirect(list_name)
