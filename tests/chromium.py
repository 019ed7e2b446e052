"""Chromium for tests that look at pages, driven through Playwright's plain (not async) interface."""

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright import async_api, sync_api

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
PATIENCE_MS = 30_000  # what a page is to show comes at once, but for a busy machine
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]

# Chromium only adds to a machine: without it these tests cannot open a page, all others run, and `make setup` says so.
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")

for api in (async_api, sync_api):
    api.expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser for one module's tests, not longer: meanwhile an event loop runs in this thread.

    Django would take that loop for a server's and refuse the database; other modules' tests want a loop of their own.
    """
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    try:
        with sync_api.sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            yield browser
            browser.close()
    finally:
        del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def page_of(chromium: Any, live_server: Any) -> Iterator[Callable[[Any], Any]]:
    """``page_of(user)``: a page signed in as that user; what goes wrong on it is in `page.troubles`."""
    from django.test import Client

    contexts = []

    def enter(user: Any) -> Any:
        client = Client()
        client.force_login(user)
        context = chromium.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
        contexts.append(context)
        context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}])
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.troubles = []
        page.on("pageerror", lambda error: page.troubles.append(str(error)))
        page.on("console", lambda m: page.troubles.append(m.text) if m.type == "error" else None)
        host = urlsplit(live_server.url).netloc
        page.on("request", lambda r: None if urlsplit(r.url).netloc in (host, "") else page.troubles.append(r.url))
        return page

    yield enter
    for context in contexts:
        context.close()


def screenshot(page: Any, name: str, part: str | None = None) -> None:
    """The page, or a part of it, kept where SCREENSHOTS names a folder."""
    if folder := os.environ.get("SCREENSHOTS"):
        path = f"{folder}/{name}.png"
        page.locator(part).screenshot(path=path) if part else page.screenshot(path=path, full_page=True)
