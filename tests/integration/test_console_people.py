"""One tablet, several people, a browser that keeps nothing: nobody's decision goes under another's name or is lost."""

from uuid import uuid4

import pytest
from channels.db import database_sync_to_async as in_thread
from django.utils import timezone
from playwright.async_api import Page, expect

from labapp.studies.models import TrialRevision
from labapp.studies.trials import trial_start
from tests.chromium import needs_chromium
from tests.integration.console_stage import Cast, Operator, sign_in, tablet

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    needs_chromium,
]

FULL = """for (const [where, name] of [[IDBObjectStore, "add"], [Storage, "setItem"]])
    where.prototype[name] = () => { throw new DOMException("full", "QuotaExceededError"); }"""
REFUSED = "IDBFactory.prototype.open = () => { throw new DOMException('refused', 'SecurityError'); }"


@pytest.fixture
def url(web_port: int) -> str:
    return f"http://127.0.0.1:{web_port}"


@pytest.fixture
def console(url: str, cast: Cast) -> str:
    return f"{url}{cast.study.get_absolute_url()}console/"


async def test_a_decision_is_sent_as_nobody_else_and_keeps_nobody_from_going_on(url, console, cast, closed_connections):
    await in_thread(begin)(cast)
    async with tablet(url, cast.operator) as page:
        await page.goto(console)
        await Operator(page).press("w", "2", "e", "n")
        await page.keyboard.type("slipped")
        other = await page.context.new_page()
        await sign_in(other, url, cast.pi)
        async with page.expect_response("**/confirm/") as refused:
            await page.keyboard.press("Enter")
        assert (await refused.value).status == 412
        await expect(page.locator("#waiting-text")).to_contain_text("pi-")
        await expect(page.locator("#waiting-text")).to_contain_text("1 decision waits on this device")
        await page.reload()
        await expect(page.locator("#waiting-text")).to_contain_text("until operator-")
        await page.keyboard.press("w")
        await expect(page.locator("#note")).to_have_value("")
        await sign_in(other, url, cast.operator)
        await page.reload()
        await Operator(page).scored(1)
    assert await in_thread(confirmed_by)() == [cast.operator.username]


async def test_the_copy_comes_back_when_nobody_signed_in_after_all(url, console, cast, closed_connections):
    async with tablet(url, cast.operator) as page:
        await page.goto(console)
        await kept(page)
        await page.evaluate("addEventListener('storage', ({ newValue }) => (globalThis.isTold ||= newValue === null))")
        other = await page.context.new_page()
        await other.goto(f"{url}/login/")
        await page.wait_for_function("globalThis.isTold")
        await kept(page)
        await page.context.set_offline(True)
        await page.reload()
        await expect(page.locator("#waiting-text")).to_contain_text("Shown as of")


@pytest.mark.parametrize("trouble", [FULL, REFUSED], ids=["full", "refused"])
async def test_a_browser_that_keeps_nothing_says_so_and_sends_what_was_decided(
    url, console, cast, closed_connections, trouble
):
    await in_thread(begin)(cast)
    async with tablet(url, cast.operator) as page:
        await page.add_init_script(trouble)
        await page.goto(console)
        await expect(page.locator("#timer")).to_be_visible()
        await page.context.set_offline(True)
        await expect(page.locator("#lateness")).to_contain_text("no connection")
        await Operator(page).press("w", "s", "Enter")
        await expect(page.locator("#waiting-text")).to_contain_text("1 decision waits on this device")
        await expect(page.locator("#toasts")).to_contain_text("do not close this page")
        await page.context.set_offline(False)
        await Operator(page).scored(1)
    assert await in_thread(confirmed_by)() == [cast.operator.username]


async def kept(page: Page) -> None:
    await expect(page.locator("#console")).to_have_attribute("data-kept", "true")


def begin(cast: Cast) -> None:
    """The first trial, whose robot nobody hears of."""
    trial_start(trial_id=uuid4(), study=cast.study, operator=cast.operator, now=timezone.now())


def confirmed_by() -> list[str]:
    return list(TrialRevision.objects.values_list("actor__username", flat=True))
