"""Calling a WSGI application (Dash's) from a Django view, so that Django's login, roles and CSRF check guard it."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from werkzeug.test import EnvironBuilder, run_wsgi_app

WsgiApp = Callable[..., Any]
HOP_BY_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "upgrade", "content-length"})


def call_wsgi(app: WsgiApp, request: HttpRequest) -> HttpResponse:
    """The application's answer to this request, at the same path; cookies stay with Django."""
    headers = {
        name: value for name, value in request.headers.items() if name.lower() not in ("cookie", "content-length")
    }
    builder = EnvironBuilder(
        path=request.path,
        query_string=request.META.get("QUERY_STRING", ""),
        method=request.method or "GET",
        headers=headers,
        data=request.body,
    )
    chunks, status, answer_headers = run_wsgi_app(app, builder.get_environ(), buffered=True)
    response = HttpResponse(b"".join(chunks), status=int(status.split()[0]))
    del response["Content-Type"]
    for name, value in answer_headers.items():
        if name.lower() not in HOP_BY_HOP:
            response[name] = value
    return response
