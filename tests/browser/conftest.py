"""The whole lab as `make demo` starts it, without study and agent, and people who sign in to it with Chromium."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parents[2]
SHOTS = ROOT / "build" / "screenshots"
NO_SERVICES = ("DATABASE_URL", "REDIS_URL", "S3_ENDPOINT", "S3_ACCESS_KEY", "S3_SECRET_KEY", "S3_BUCKET")
START_S = 200


class WholeLab:
    """``manage.py demo`` on a folder of its own."""

    def __init__(self, folder: Path) -> None:
        environ = {name: value for name, value in os.environ.items() if name not in NO_SERVICES}
        self._said = folder / "said"
        command = [sys.executable, "manage.py", "demo", "--no-study", "--no-agent", "--port", "0", "--workers", "1"]
        with self._said.open("w") as output:
            self._process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environ | {"GROUNDLAB_VAR": str(folder / "var"), "DJANGO_SETTINGS_MODULE": "labapp.settings.dev"},
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def wait(self) -> "WholeLab":
        """Until it serves; then its address and the passwords of the demo logins are known."""
        deadline = time.monotonic() + START_S
        while not (found := re.search(r"Serving (\S+)", self._said.read_text())):
            assert self._process.poll() is None and time.monotonic() < deadline, self._said.read_text()
            time.sleep(0.2)
        self.url = found.group(1)
        self.passwords = dict(
            re.findall(r"^ {4}(operator|researcher|pi) +(\S+)$", self._said.read_text(), re.MULTILINE)
        )
        return self

    def stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(120)


@pytest.fixture(scope="module")
def lab() -> Iterator[WholeLab]:
    folder = Path(tempfile.mkdtemp(prefix="groundlab-browser-"))
    running = WholeLab(folder)
    try:
        yield running.wait()
    finally:
        running.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def sign_in(lab: WholeLab, chromium: Browser) -> Iterator[Callable[..., Page]]:
    """``sign_in("pi", theme="light", width=820, height=1180)``: a page; what goes wrong on it is in `page.troubles`."""
    contexts = []

    def enter(role: str, *, theme: str = "light", width: int = 1280, height: int = 900) -> Page:
        context = chromium.new_context(
            base_url=lab.url, viewport={"width": width, "height": height}, color_scheme=theme
        )
        contexts.append(context)
        page = context.new_page()
        page.troubles = []
        page.goto("/login/")
        page.fill("[name=username]", role)
        page.fill("[name=password]", lab.passwords[role])
        page.press("[name=password]", "Enter")
        page.wait_for_url(lambda address: "/login/" not in address)
        watch(page, urlsplit(lab.url).netloc)
        return page

    yield enter
    for context in contexts:
        context.close()


def watch(page: Page, host: str) -> None:
    """Errors of scripts, and requests to other hosts: the lab works without any network."""
    page.on("pageerror", lambda error: page.troubles.append(str(error)))
    page.on("request", lambda r: None if urlsplit(r.url).netloc in (host, "") else page.troubles.append(r.url))


@pytest.fixture(scope="session")
def shoot() -> Callable[[Page, str], None]:
    """``shoot(page, "home")``: a picture of the page in build/screenshots, to be looked at."""

    def take(page: Page, name: str) -> None:
        SHOTS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=SHOTS / f"{name}.png", full_page=True)

    return take
