"""The web server while Redis is frozen, and while PostgreSQL is away: short waits, words, and everything back after."""

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil
import pytest
from django.utils import timezone
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from labapp.runs.models import Run
from labapp.services.postgres import Postgres
from labapp.services.redis_server import RedisServer
from tests.integration.web_server import wait_until, web_server
from tests.labapp import builders
from tests.websocket import OWN_ORIGIN, session_cookie

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
SHORT_S = 15.0  # what is to take one second, or five, on a machine that is busy with other things
SIGN_IN = (
    "from tests.labapp import builders; from tests.websocket import session_cookie; "
    "print(session_cookie(builders.user('researcher')))"
)


@contextmanager
def lab(environ: dict[str, str], log: Path, cookie: str) -> Iterator[httpx.Client]:
    """A web server and a browser that is signed in."""
    with web_server(environ, log) as (port, _):
        headers = {"cookie": f"{cookie}; csrftoken={'a' * 32}", "x-csrftoken": "a" * 32}
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=90) as browser:
            yield browser


@contextmanager
def frozen(server: RedisServer) -> Iterator[None]:
    process = psutil.Process(server.facts["pid"])
    process.suspend()
    try:
        yield
    finally:
        process.resume()


@contextmanager
def soon() -> Iterator[None]:
    started = time.monotonic()
    yield
    assert time.monotonic() - started < SHORT_S


def test_a_frozen_redis_holds_no_request_up(transactional_db, own_service, service_environ, tmp_path):
    run = Run.objects.create(kind="cells.measure", title="Measure", status="failed", finished_at=timezone.now())
    server, log = own_service(RedisServer), tmp_path / "web.log"
    environ = service_environ | server.addresses() | {"REDIS_WAIT_SECONDS": "1"}
    with lab(environ, log, session_cookie(builders.user("researcher"))) as browser, frozen(server):
        for action in ("retry", "cancel", "retry"):
            with soon():
                assert browser.post(f"/api/runs/{run.pk}/{action}/").status_code == 200
        with soon():
            assert "starts by itself once it does" in browser.get(f"/runs/{run.pk}/").text
        assert log.read_text().count("pages learn of changes when they ask") == 1
    run.refresh_from_db()
    assert (run.status, run.enqueued_at) == (Run.Status.QUEUED, None)


@pytest.fixture
def postgres() -> Iterator[Postgres]:
    """In a folder that the server's account may enter; pytest closes its own to others again and again."""
    folder = Path(tempfile.mkdtemp(prefix="groundlab-outage-"))
    server = Postgres(folder, {}, durable=False)
    server.start(lambda line: None)
    yield server
    server.stop()
    shutil.rmtree(folder)


def test_without_postgresql_a_page_waits_once_and_all_is_well_after(postgres, service_environ, tmp_path):
    environ = service_environ | postgres.addresses()
    manage(environ, "migrate", "--verbosity=0")
    with lab(
        environ, tmp_path / "web.log", manage(environ, "shell", "--verbosity=0", "-c", SIGN_IN).strip()
    ) as browser:
        assert browser.get("/runs/").status_code == 200 and can_listen(browser)
        postgres.stop()
        with soon():
            page = browser.get("/runs/")
        assert (page.status_code, page.headers["retry-after"]) == (503, "10")
        assert "database does not answer" in page.text
        with soon():
            assert browser.get("/api/runs/").json()["detail"].startswith("The lab's database does not answer")
        with soon():
            assert not can_listen(browser)
        postgres.start(lambda line: None)
        wait_until(lambda: browser.get("/runs/").status_code == 200)
        assert can_listen(browser)


def manage(environ: dict[str, str], *arguments: str) -> str:
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environ, check=True, capture_output=True, text=True).stdout


def can_listen(browser: httpx.Client) -> bool:
    """Whether a page of runs gets its socket."""
    address = f"ws://{browser.base_url.netloc.decode()}/ws/runs/"
    headers = {"cookie": browser.headers["cookie"]}
    try:
        with connect(address, additional_headers=headers, origin=OWN_ORIGIN, open_timeout=60):
            return True
    except (WebSocketException, OSError):
        return False
