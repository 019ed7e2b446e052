"""Error pages: JSON under ``/api/``, a page elsewhere; never a traceback."""

import logging
import sys
from collections.abc import Callable

from django.db import DataError, InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from redis import RedisError

from labapp.storage import StoreUnavailable

logger = logging.getLogger(__name__)

TITLES = {
    400: "That request cannot be understood",
    403: "Your role does not allow this",
    404: "There is nothing here",
    500: "Something broke on our side",
}
ADVICE = {
    400: "Go back and try again; if it stays, tell the lab's administrator what you did.",
    403: "Ask a researcher or the PI when you need it.",
    404: "The link may be old, or the thing was removed.",
    500: "The error is in the server's log with its time. Trying again does no harm.",
}

AWAY: dict[str, tuple[type[BaseException], ...]] = {
    "database": (OperationalError, InterfaceError),
    "queue and cache (Redis)": (RedisError,),
    "object store": (StoreUnavailable,),
}
RETRY_AFTER_S = 10


def _answer(request: HttpRequest, status: int, detail: str = "") -> HttpResponse:
    detail = detail or ADVICE[status]
    if request.path.startswith("/api/"):
        return JsonResponse({"detail": f"{TITLES[status]}. {detail}"}, status=status)
    context = {"status": status, "title": TITLES[status], "detail": detail}
    return render(request, "error.html", context, status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _answer(request, 400)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _answer(request, 403, str(exception))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _answer(request, 404)


def server_error(request: HttpRequest) -> HttpResponse:
    away = service_away(sys.exc_info()[1])
    return _service_away(request, away) if away else _answer(request, 500)


def service_away(error: BaseException | None) -> str | None:
    """The service whose absence the error tells, if it does."""
    return next((name for name, kinds in AWAY.items() if isinstance(error, kinds)), None)


class AwayInOneLine(logging.Filter):
    """For the log: a service that is away says the same at every request, and its traceback tells nothing."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if service_away(error):
            said = " ".join(str(error).split())
            record.msg, record.args, record.exc_info = f"{record.getMessage()}: {said}", (), None
        return True


def _service_away(request: HttpRequest, name: str) -> HttpResponse:
    """Made without the database: the lab's own pages ask it who is reading."""
    title = f"The lab's {name} does not answer"
    headers = {"Retry-After": str(RETRY_AFTER_S)}
    if request.path.startswith("/api/"):
        detail = f"{title}. Send the request again in {RETRY_AFTER_S} s."
        return JsonResponse({"detail": detail}, status=503, headers=headers)
    context = {"title": title, "is_reading": request.method in ("GET", "HEAD"), "retry_after_s": RETRY_AFTER_S}
    return HttpResponse(render_to_string("away.html", context), status=503, headers=headers)


class ValuesThatCannotBeStored:
    """Middleware: a value that no check refused and the database cannot hold, such as a NUL, is the client's mistake.

    Nothing is stored: the error has ended the view and its transaction.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, DataError):
            return None
        logger.warning("%s %s: %s", request.method, request.path, exception)
        said = str(exception).splitlines()[0].rstrip(".")
        return _answer(request, 400, f"A value in it cannot be looked up or stored: {said}. Nothing was changed.")
