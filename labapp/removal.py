"""Taking back what was never made: its name is free again. What is ready stays, others may rest on it."""

from datetime import datetime
from typing import Any, Protocol

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import ProtectedError, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from labapp.runs.models import Run


class Made(Protocol):
    """A row that a run makes."""

    run: Run | None
    ready_at: datetime | None

    def delete(self) -> Any: ...


@transaction.atomic
def row_remove(row: Made, *parts: QuerySet) -> None:
    """Delete a row whose run ended without success, and its parts before it; the run and its log stay.

    Raises:
        ValidationError: it is ready, still being made, or something rests on it.
    """
    if row.ready_at is not None:
        raise ValidationError(f"{row} is ready and stays: other things may rest on it.")
    if row.run is not None and row.run.is_active:
        raise ValidationError(f"{row} is still being made; cancel its run first.")
    try:
        for part in parts:
            part.delete()
        row.delete()
    except ProtectedError as error:
        raise ValidationError(f"{row} stays: something rests on it.") from error


def removed(request: HttpRequest, row: Made, list_name: str, *parts: QuerySet) -> HttpResponse:
    """The answer to the button "Remove"."""
    name = str(row)
    try:
        row_remove(row, *parts)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
        return redirect(row)
    messages.success(request, f"{name} is removed; its run's log stays.")
    return redirect(list_name)
