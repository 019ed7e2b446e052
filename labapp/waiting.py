"""Pages of things that are being made: they ask again every few seconds, and load anew when the run has ended."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django_htmx.http import HttpResponseClientRefresh

WAITING = "being-made"


def refresh_when_made(request: HttpRequest, row: Any) -> HttpResponse | None:
    """The answer to a waiting page whose row is ready, or whose run has failed; None while it has to wait."""
    if request.htmx.target != WAITING or (row.run and row.run.is_active):
        return None
    return HttpResponseClientRefresh()
