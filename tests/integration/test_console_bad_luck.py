"""The console when things go wrong around it: clocks, reloads, sign-outs, lost robots, a stop that nobody hears."""

import asyncio
from datetime import timedelta

import pytest
from channels.db import database_sync_to_async as in_thread
from django.contrib.sessions.models import Session as LoginSession
from django.utils import timezone
from playwright.async_api import Page, expect

from labapp.cells.agents import agent_connected
from labapp.cells.models import Agent
from labapp.studies import services
from labapp.studies.models import Trial
from tests.chromium import needs_chromium
from tests.integration.console_stage import Cast, Operator, sign_in, tablet, toy_agent
from tests.integration.web_server import ROOT
from tests.robots.agent.conftest import ToyRig

pytestmark = [pytest.mark.browser, needs_chromium]

JUMP = "(() => { const real = Date.now.bind(Date); Date.now = () => real() + 3600e3; })()"
TOPMOST = "(() => { const box = document.getElementById('stop').getBoundingClientRect();" + (
    "return document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2)?.closest('#stop') !== null"
    " && box.height >= 44 && box.bottom <= innerHeight && box.right <= innerWidth })()"
)
# Everything that the stop's banner says from here on; the first words of two stand for two seconds only.
LISTEN = """() => {
    const text = document.getElementById("stop-text");
    globalThis.said = [];
    const parts = { childList: true, characterData: true, subtree: true };
    new MutationObserver(() => said.push(text.textContent)).observe(text, parts);
}"""


@pytest.fixture
def console(web_port: int, cast: Cast) -> str:
    return f"http://127.0.0.1:{web_port}{cast.study.get_absolute_url()}console/"


@pytest.fixture
def url(web_port: int, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return f"http://127.0.0.1:{web_port}"


async def test_clock_reload_sign_out_and_change_of_mind(url, console, cast, closed_connections, tmp_path):
    async with toy_agent(url, cast.token, tmp_path), tablet(url, cast.operator) as page:
        operator = Operator(page)
        await page.goto(console)
        await operator.begin()
        await operator.start()
        await a_draft_outlives_a_reload(page)
        await a_queued_decision_can_be_taken_back(page, operator)
        await a_clock_that_jumps_changes_no_countdown(page)
        await operator.start()
        await what_is_decided_when_signed_out_is_sent_afterwards(page, operator, url, cast)
    scored = await in_thread(outcomes)()
    assert sorted(scored) == [("", ""), ("dropped", "rim")]


def outcomes() -> list[tuple[str, str]]:
    return list(Trial.objects.filter(status="confirmed").values_list("failure_mode", "note"))


async def a_draft_outlives_a_reload(page: Page) -> None:
    await page.keyboard.press("2")
    await page.keyboard.press("n")
    await page.keyboard.type("rim")
    await page.reload()
    await expect(page.locator("[data-action='mode:dropped']")).to_have_attribute("aria-pressed", "true")
    await expect(page.locator("#note")).to_have_value("rim")


async def a_queued_decision_can_be_taken_back(page: Page, operator: Operator) -> None:
    await page.context.set_offline(True)
    await operator.press("e", "Enter")
    await expect(page.locator("#waiting-text")).to_contain_text("1 decision waits on this device")
    await operator.press("u")
    await expect(page.locator("[data-action=confirm]")).to_be_enabled()
    await operator.press("r", "Enter")
    await expect(page.locator("#waiting-text")).to_contain_text("1 decision waits")
    await page.context.set_offline(False)
    await expect(page.locator("#progress-text")).to_have_text("1 of 12")


async def a_clock_that_jumps_changes_no_countdown(page: Page) -> None:
    await expect(page.locator("[data-action=undo]")).to_be_visible()
    await page.evaluate(JUMP)
    await asyncio.sleep(0.5)
    seconds = int((await page.inner_text("#undo-left")).split()[0])
    assert 1 <= seconds <= 10
    await expect(page.locator("#correct-last")).to_be_visible()


async def what_is_decided_when_signed_out_is_sent_afterwards(page, operator, url, cast) -> None:
    await in_thread(LoginSession.objects.all().delete)()
    await operator.press("s", "Enter")
    await expect(page.locator("#waiting-text")).to_contain_text("You are signed out. 1 decision waits")
    other = await page.context.new_page()
    await sign_in(other, url, cast.operator)
    await expect(page.locator("#progress-text")).to_have_text("2 of 12")
    await expect(page.locator("#waiting-banner")).to_be_hidden()


async def test_a_robot_lost_in_a_trial_can_be_scored_by_hand(url, console, cast, closed_connections, tmp_path):
    rig = ToyRig(length=10_000, is_lockstep=False)
    async with tablet(url, cast.operator) as page:
        async with toy_agent(url, cast.token, tmp_path, rig):
            operator = Operator(page)
            await page.goto(console)
            await operator.begin()
            await expect(page.locator("[data-action=start]")).to_be_enabled()
            await operator.press("Space")
            await expect(page.locator("#timer")).to_be_visible()
        await expect(page.locator("#lateness")).to_contain_text("agent is away")
        await operator.press("w", "s", "Enter")
        await expect(page.locator("#progress-text")).to_have_text("1 of 12")
        await in_thread(finish)(cast)
        await expect(page.locator("#panel")).to_contain_text("This study is finished")


def finish(cast: Cast) -> None:
    services.study_finish(study=cast.study, actor=cast.pi, reason="the robot is broken", now=timezone.now())


async def test_stop_is_in_reach_and_its_silence_is_an_alarm(url, console, cast, closed_connections):
    await in_thread(pretend_connected)()
    async with tablet(url, cast.operator, width=390, height=844) as page:
        operator = Operator(page)
        await page.goto(console)
        await a_pedal_is_a_key(page)
        await page.keyboard.press("PageDown")
        await expect(page.locator("#checks input").first).to_be_checked()
        await operator.press(*["Space"] * 5)
        await expect(page.locator("[data-action=start]")).to_be_visible()
        await page.evaluate("scrollTo(0, document.body.scrollHeight)")
        assert await page.evaluate(TOPMOST)
        await page.locator("#keys").click()
        assert await page.evaluate(TOPMOST)
        assert await page.evaluate("document.documentElement.scrollWidth") <= 390
        await page.context.set_offline(True)
        await expect(page.locator("#lab-link")).to_have_text("no connection")
        assert await page.evaluate(TOPMOST)
        await page.context.set_offline(False)
        await page.evaluate(LISTEN)
        await page.keyboard.press("Escape")
        await expect(page.locator("#keys-dialog")).to_be_hidden()
        await expect(page.locator("#stop-text")).to_have_text(
            "The robot has not answered: use the emergency stop on the rig!"
        )
        assert "waiting for the robot" in (await page.evaluate("said"))[0]


async def a_pedal_is_a_key(page: Page) -> None:
    await page.locator("#keys").click()
    await page.get_by_role("button", name="Assign a pedal").first.click()
    await page.keyboard.press("PageDown")
    await expect(page.locator("#pedals")).to_contain_text("Pedal: PageDown")
    await page.locator("#keys-dialog").get_by_role("button", name="Close").click()


def pretend_connected() -> None:
    """An agent whose socket nobody holds: messages to it are lost. It was heard of as late as this test may take."""
    agent_connected(agent=Agent.objects.get(), version="test", now=timezone.now() + timedelta(minutes=10))
