"""HTTP of the lab under ASGI: views and middleware here are plain functions, so a request costs one thread, once.

Django's own ASGI handler enters the thread again for every middleware, there and back; under twenty operators that
took longer than everything else together (``tests/benchmarks/bench_console.py``).

It also keeps a request's database connection until the client has read the last byte. Connections are few and shared,
and some clients stop reading: here the answer is finished first, whatever its length, and the connection given back.
Where connections are pooled, requests beyond their number wait in line, with neither a thread nor a time limit.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, nullcontext
from tempfile import SpooledTemporaryFile
from typing import IO, Any

import django
from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.exception import response_for_exception
from django.db import close_old_connections, connections
from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase

CHUNK = 1 << 16
LARGEST_IN_MEMORY = 1 << 20  # longer answers wait for their client on the disk


class ThreadHandler(ASGIHandler):
    def __init__(self) -> None:
        super().__init__()
        self.places = places()

    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        async with self.places:
            return await sync_to_async(self._respond, thread_sensitive=True)(request)

    def _respond(self, request: HttpRequest) -> HttpResponseBase:
        try:
            return finished(request, self.get_response(request))
        finally:
            close_old_connections()


def places() -> AbstractAsyncContextManager[Any]:
    """One for each pooled connection but one, which is the websockets'."""
    pool = connections["default"].settings_dict["OPTIONS"].get("pool")
    return asyncio.Semaphore(max(1, pool["max_size"] - 1)) if pool else nullcontext()


def finished(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """A response that needs nothing any more to be sent; an error page where its rows end in an error."""
    if not isinstance(response, StreamingHttpResponse) or response.is_async:
        return response
    file = SpooledTemporaryFile(max_size=LARGEST_IN_MEMORY)  # noqa: SIM115 - the response closes it once it is sent
    response._resource_closers.append(file.close)
    try:
        for part in response.streaming_content:
            file.write(part)
    except Exception as error:
        response.close()
        return response_for_exception(request, error)
    response.headers.setdefault("Content-Length", str(file.tell()))
    file.seek(0)
    response.streaming_content = parts(file)
    return response


async def parts(file: IO[bytes]) -> AsyncIterator[bytes]:
    while part := await sync_to_async(file.read)(CHUNK):
        yield part


def http_application() -> Any:
    django.setup(set_prefix=False)
    return ThreadHandler()
