"""HTTP under ASGI: a request runs in one thread from the first middleware to the view."""

import threading
from collections.abc import Iterator

import httpx
import pytest
from django.http import HttpRequest, HttpResponse
from django.test import override_settings
from django.urls import path

from labapp.handler import http_application

threads: list[int] = []


def noting(get_response):
    def middleware(request: HttpRequest) -> HttpResponse:
        threads.append(threading.get_ident())
        return get_response(request)

    return middleware


def page(request: HttpRequest) -> HttpResponse:
    threads.append(threading.get_ident())
    return HttpResponse("here")


urlpatterns = [path("page/", page)]
NOTING = f"{__name__}.noting"


@pytest.fixture
def noted() -> Iterator[list[int]]:
    threads.clear()
    middleware = [NOTING, "django.middleware.common.CommonMiddleware", NOTING]
    with override_settings(MIDDLEWARE=middleware, ROOT_URLCONF=__name__):
        yield threads


async def test_middleware_and_view_share_one_thread(noted):
    transport = httpx.ASGITransport(app=http_application())
    async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
        answer = await client.get("/page/")
    assert answer.text == "here"
    assert len(noted) == 3 and len(set(noted)) == 1
    assert threading.get_ident() not in noted
