"""HTTP of the lab under ASGI: views and middleware here are plain functions, so a request costs one thread, once.

Django's own ASGI handler enters the thread again for every middleware, there and back; under twenty operators that
took longer than everything else together (``tests/benchmarks/bench_console.py``).
"""

from typing import Any

import django
from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase


class ThreadHandler(ASGIHandler):
    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        return await sync_to_async(self.get_response, thread_sensitive=True)(request)


def http_application() -> Any:
    django.setup(set_prefix=False)
    return ThreadHandler()
