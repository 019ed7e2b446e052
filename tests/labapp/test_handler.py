"""HTTP under ASGI: a request runs in one thread, and needs no database any more once its answer is being sent."""

import asyncio
import threading
import time
from collections.abc import Iterator

import httpx
import pytest
from django.db import connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
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


def row() -> str:
    used.append(connections["default"])  # that of this thread
    with connection.cursor() as cursor:
        cursor.execute("SELECT 'row'")
        return f"{cursor.fetchone()[0]}\n"


def table(request: HttpRequest) -> HttpResponse:
    return HttpResponse(row())


def rows(request: HttpRequest) -> StreamingHttpResponse:
    return StreamingHttpResponse(row() for _ in range(100))


def torn(request: HttpRequest) -> StreamingHttpResponse:
    return StreamingHttpResponse(1 / (2 - n) for n in range(100))


def busy(request: HttpRequest) -> HttpResponse:
    inside.append(1)
    time.sleep(0.02)
    most = len(inside)
    inside.pop()
    return HttpResponse(str(most))


def torn_page(request: HttpRequest) -> HttpResponse:
    return HttpResponse("broken", status=500)


used: list[BaseDatabaseWrapper] = []
inside: list[int] = []
handler500 = torn_page
urlpatterns = [
    path("page/", page),
    path("table/", table),
    path("rows/", rows),
    path("torn/", torn),
    path("busy/", busy),
]
NOTING = f"{__name__}.noting"


@pytest.fixture
def noted() -> Iterator[list[int]]:
    threads.clear()
    middleware = [NOTING, "django.middleware.common.CommonMiddleware", NOTING]
    with override_settings(MIDDLEWARE=middleware, ROOT_URLCONF=__name__):
        yield threads


async def fetched(address: str) -> httpx.Response:
    transport = httpx.ASGITransport(app=http_application(), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
        return await client.get(address)


async def test_middleware_and_view_share_one_thread(noted):
    answer = await fetched("/page/")
    assert answer.text == "here"
    assert len(noted) == 3 and len(set(noted)) == 1
    assert threading.get_ident() not in noted


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("address", ["/table/", "/rows/"])
async def test_a_client_that_does_not_read_holds_no_connection(noted, address):
    held: list[bool] = []

    async def send(message: dict) -> None:
        held.append(any(wrapper.connection is not None for wrapper in used))

    body = iter([{"type": "http.request", "body": b""}])

    async def receive() -> dict:
        return next(body, None) or await asyncio.Future()

    used.clear()
    headers = [(b"host", b"testserver")]
    scope = {"type": "http", "method": "GET", "path": address, "query_string": b"", "headers": headers}
    await http_application()(scope, receive, send)
    assert used and len(held) >= 2 and not any(held)


@pytest.mark.django_db(transaction=True)
async def test_a_streamed_answer_comes_whole_with_its_length(noted):
    answer = await fetched("/rows/")
    assert answer.text == "row\n" * 100
    assert answer.headers["Content-Length"] == "400"


async def test_a_streamed_answer_that_breaks_off_is_an_error_page_and_no_half_table(noted):
    answer = await fetched("/torn/")
    assert (answer.status_code, answer.text) == (500, "broken")


async def test_more_requests_than_pooled_connections_wait_in_line(noted, monkeypatch):
    monkeypatch.setitem(connections["default"].settings_dict, "OPTIONS", {"pool": {"max_size": 4}})
    transport = httpx.ASGITransport(app=http_application())
    async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
        answers = await asyncio.gather(*(client.get("/busy/") for _ in range(12)))
    assert [answer.status_code for answer in answers] == [200] * 12
    assert max(int(answer.text) for answer in answers) == 3, "one connection is the websockets'"
