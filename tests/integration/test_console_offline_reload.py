"""The console is loaded again while there is no network, and shows nothing of anybody once they signed out."""

from uuid import uuid4

import pytest
from channels.db import database_sync_to_async as in_thread
from django.contrib.sessions.models import Session as LoginSession
from django.utils import timezone
from playwright.async_api import Error, Page, expect

from labapp.studies.models import Trial, TrialRevision
from labapp.studies.trials import trial_start
from tests.chromium import needs_chromium
from tests.integration.console_stage import Cast, Operator, sign_in, tablet, toy_agent
from tests.integration.web_server import ROOT

pytestmark = [pytest.mark.browser, needs_chromium]

NO_NETWORK = "ERR_INTERNET_DISCONNECTED"
NO_COPY = "async () => (await caches.keys()).length === 0"


@pytest.fixture
def url(web_port: int, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return f"http://127.0.0.1:{web_port}"


@pytest.fixture
def console(url: str, cast: Cast) -> str:
    return f"{url}{cast.study.get_absolute_url()}console/"


async def test_a_trial_under_way_is_scored_after_a_reload_without_network(url, console, cast, closed_connections):
    await in_thread(begin)(cast)
    async with tablet(url, cast.operator) as page:
        operator = Operator(page)
        await page.goto(console)
        await kept(page)
        await page.context.set_offline(True)
        await page.reload()
        await expect(page.locator("#timer")).to_be_visible()
        await expect(page.locator("#lateness")).to_contain_text("no connection to the lab")
        await operator.press("w", "4", "r", "Enter")
        await waits(page)
        await page.reload()
        await waits(page)
        await page.context.set_offline(False)
        await operator.scored(1)
        await signed_out(page)
        await nothing_is_there(page, console)
    assert await in_thread(outcomes)() == [("drift", "carry", 1)]


@pytest.mark.slow
async def test_a_robots_trial_is_scored_once_across_a_cut_with_a_reload(
    url, console, cast, closed_connections, tmp_path
):
    async with toy_agent(url, cast.token, tmp_path), tablet(url, cast.operator) as page:
        operator = Operator(page)
        await page.goto(console)
        await operator.begin()
        await operator.start()
        await kept(page)
        await page.context.set_offline(True)
        await operator.press("4", "r", "Enter")
        await waits(page)
        await page.reload()
        await waits(page)
        await page.context.set_offline(False)
        await operator.scored(1)
        await expect(page.locator("#waiting-banner")).to_be_hidden()
        await operator.start()
        await operator.press("a", "Enter")
        await operator.scored(2)
    assert await in_thread(outcomes)() == [("", "placed", 2), ("drift", "carry", 2)]


@pytest.mark.slow
async def test_the_copy_goes_with_the_sign_in(url, console, cast, closed_connections):
    async with tablet(url, cast.operator) as page:
        await page.goto(console)
        await kept(page)
        await in_thread(LoginSession.objects.all().delete)()
        await expect(page.locator("#waiting-text")).to_contain_text("You are signed out")
        await nothing_is_there(page, console)
        await sign_in(page, url, cast.operator)
        await page.goto(console)
        await kept(page)
        await sign_in(page, url, cast.pi)
        await nothing_is_there(page, console)
        await page.goto(console)
        await kept(page)
        await page.goto(f"{url}/admin/login/")
        await nothing_is_there(page, console)


@pytest.mark.slow
async def test_without_https_the_checklist_says_that_a_reload_needs_the_network(url, console, cast, closed_connections):
    async with tablet(url.replace("127.0.0.1", "testserver"), cast.operator) as page:
        await page.goto(console.replace("127.0.0.1", "testserver"))
        await expect(page.locator("#no-reload")).to_contain_text("That needs an HTTPS address")
        await Operator(page).begin()


def begin(cast: Cast) -> None:
    """The first trial, whose robot nobody hears of."""
    trial_start(trial_id=uuid4(), study=cast.study, operator=cast.operator, now=timezone.now())


def outcomes() -> list[tuple[str, str, int]]:
    """Failure mode and stage of each scored trial, and how many changes there were in all."""
    scored = Trial.objects.filter(status="confirmed").order_by("failure_mode")
    changes = TrialRevision.objects.count()
    return [(*outcome, changes) for outcome in scored.values_list("failure_mode", "furthest_stage")]


async def kept(page: Page) -> None:
    """The browser has its copy of the console."""
    await expect(page.locator("#console")).to_have_attribute("data-kept", "true")


async def waits(page: Page) -> None:
    """What an operator sees with one decision on this device and no network."""
    await expect(page.locator("#waiting-text")).to_contain_text("1 decision waits on this device")
    await expect(page.locator("#waiting-text")).to_contain_text("Shown as of")
    await expect(page.locator("#stop-reach")).to_contain_text("reach the robot through the network")
    await expect(page.locator("#lab-link")).to_have_text("no connection")
    await expect(page.locator("[data-action=takeBack]")).to_be_visible()


async def signed_out(page: Page) -> None:
    await page.locator('form[action$="/logout/"]').evaluate("form => form.requestSubmit()")
    await page.wait_for_url("**/login/**")


async def nothing_is_there(page: Page, console: str) -> None:
    """No copy is left, and without network the browser says so."""
    await page.wait_for_function(NO_COPY)
    await page.context.set_offline(True)
    with pytest.raises(Error, match=NO_NETWORK):
        await page.goto(console)
    await page.context.set_offline(False)
