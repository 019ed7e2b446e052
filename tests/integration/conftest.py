"""A web server for the test, and no connection of a thread left behind."""

import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connections

from tests.integration.console_stage import cast
from tests.integration.web_server import web_server

__all__ = ["cast"]


@pytest.fixture
def web(
    transactional_db: Any, service_environ: dict[str, str], tmp_path: Path
) -> Iterator[tuple[int, "subprocess.Popen[bytes]"]]:
    """Port and process of a web server on this test's database."""
    with web_server(service_environ, tmp_path / "web.log") as running:
        yield running


@pytest.fixture
def web_port(web: tuple[int, "subprocess.Popen[bytes]"]) -> int:
    return web[0]


@pytest.fixture
async def closed_connections() -> AsyncIterator[None]:
    """For async tests: the database connection of their thread ends with them."""
    yield
    await sync_to_async(connections.close_all)()
