"""A signed-in page of a web server in another process, and pictures of it for people."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, Page, async_playwright

from labapp.accounts.models import User
from tests.chromium import CHROMIUM, FLAGS, PATIENCE_MS
from tests.integration.web_server import ROOT

SHOTS = ROOT / "build" / "screenshots"


@asynccontextmanager
async def browser() -> AsyncIterator[Browser]:
    """Chromium for one test, whose pages `sign_in` opens."""
    async with async_playwright() as playwright:
        opened = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        await opened.close()


async def sign_in(
    opened: Browser, url: str, user: User, *, theme: str = "light", width: int = 1280, height: int = 900
) -> Page:
    """A page of a context of its own; errors in its scripts are in `page.errors`."""
    context = await opened.new_context(base_url=url, viewport={"width": width, "height": height}, color_scheme=theme)
    page = await context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    await page.goto("/login/")
    await page.fill("[name=username]", user.username)
    await page.fill("[name=password]", "correct horse")
    await page.press("[name=password]", "Enter")
    await page.wait_for_url(lambda address: "/login/" not in address)
    return page


@asynccontextmanager
async def signed_in(url: str, user: User, **screen: int | str) -> AsyncIterator[Page]:
    """One page in a browser of its own; it must end without errors in its scripts."""
    async with browser() as opened:
        page = await sign_in(opened, url, user, **screen)
        yield page
        assert page.errors == []


async def shoot(page: Page, name: str) -> None:
    SHOTS.mkdir(parents=True, exist_ok=True)
    await page.screenshot(path=SHOTS / f"{name}.png", full_page=True)
