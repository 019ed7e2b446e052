"""A whole session of twelve trials in a real browser, by keyboard alone, with everything that goes wrong on the way."""

import asyncio
import shutil
import statistics
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from channels.db import database_sync_to_async as in_thread
from django.utils import timezone
from playwright.async_api import Page, async_playwright, expect

from labapp import storage
from labapp.accounts.models import User
from labapp.live.agents import agent_create
from labapp.studies import services
from labapp.studies.models import Study, Trial, TrialRevision
from labapp.studies.presets import ConditionPreset
from robots.agent.agent import Agent, AgentOptions
from robots.agent.policy import PolicyPool
from tests.integration.web_server import ROOT
from tests.labapp import builders
from tests.robots.agent.conftest import FAKE_POLICY, ToyRig

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PASSWORD = "correct horse"

pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")]


@dataclass
class Cast:
    study: Study
    token: str
    operator: User
    pi: User


@pytest.fixture
def cast(transactional_db, tmp_path: Path) -> Cast:
    weights = tmp_path / "weights"
    weights.mkdir()
    (weights / "model.safetensors").write_bytes(b"weights")
    checkpoints = [builders.checkpoint(name) for name in ("grounded-adapt", "ungrounded-synthesize")]
    for checkpoint in checkpoints:
        storage.put_folder(weights, checkpoint.prefix)
    pi, cell = builders.user("pi"), builders.cell()
    study = services.study_create(
        name="Keyboard study",
        cell=cell,
        checkpoints=checkpoints,
        actor=pi,
        seed=2,
        conditions=[ConditionPreset("nominal", "Nominal", 6, is_shifted=False)],
    )
    services.study_lock(study=study, actor=pi, now=timezone.now())
    return Cast(study, agent_create(cell=cell, name="toy agent")[1], builders.user("operator"), pi)


@asynccontextmanager
async def toy_agent(url: str, token: str, tmp_path: Path) -> AsyncIterator[None]:
    pool = PolicyPool(
        tmp_path / "policy.log", command=lambda folder, path: [sys.executable, str(FAKE_POLICY), str(folder), str(path)]
    )
    agent = Agent(AgentOptions(url, token, tmp_path / "agent"), ToyRig(length=25), pool)
    task = asyncio.create_task(agent.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def tablet(url: str, user: User) -> AsyncIterator[Page]:
    """A signed-in browser of a tablet's size; any error in a script fails the test."""
    errors: list[str] = []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        context = await browser.new_context(viewport={"width": 1180, "height": 820})
        page = await context.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        await page.goto(f"{url}/login/")
        await page.fill("[name=username]", user.username)
        await page.fill("[name=password]", PASSWORD)
        await page.press("[name=password]", "Enter")
        await page.wait_for_url(lambda address: "/login/" not in address)
        yield page
        await browser.close()
    assert errors == []


@dataclass
class Operator:
    """Presses keys and counts them."""

    page: Page
    counts: list[int] = field(default_factory=list)
    count: int = 0

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.page.keyboard.press(key)
            self.count += 1

    async def start(self) -> None:
        await expect(self.page.locator("[data-action=start]")).to_be_enabled(timeout=20_000)
        self.count = 0
        await self.press("Space")
        await expect(self.page.locator("[data-action=accept]")).to_be_visible(timeout=20_000)

    async def scored(self, number: int) -> None:
        await expect(self.page.locator("#progress-text")).to_have_text(f"{number} of 12", timeout=20_000)
        self.counts.append(self.count)

    async def ordinary_trial(self, number: int) -> None:
        await self.start()
        await self.press("a", "Enter")
        await self.scored(number)

    async def trial_with_a_network_cut(self, number: int) -> None:
        await self.start()
        await self.page.context.set_offline(True)
        await self.press("4", "r", "Enter")
        await expect(self.page.locator("#waiting-text")).to_contain_text("1 decision waits")
        await asyncio.sleep(1.0)
        await self.page.context.set_offline(False)
        await self.scored(number)

    async def invalid_trial(self) -> None:
        await self.start()
        await self.press("i")
        await self.page.keyboard.type("Somebody walked into the cell")
        for _ in range(5):
            await self.page.keyboard.press("Tab")
        await self.page.keyboard.press("Enter")
        await expect(self.page.locator("[data-action=start]")).to_be_visible(timeout=20_000)

    async def trial_submitted_twice(self, number: int) -> None:
        await self.start()
        await self.press("s", "Enter", "Enter")
        await self.scored(number)

    async def trial_undone_and_corrected_at_once(self, number: int) -> None:
        await self.start()
        await self.press("a", "Enter")
        await expect(self.page.locator("[data-action=undo]")).to_be_visible(timeout=20_000)
        await self.press("u")
        await expect(self.page.locator("[data-action=confirm]")).to_be_visible(timeout=20_000)
        await self.press("1", "q", "Enter")
        await self.scored(number)


async def test_twelve_trials_by_keyboard(web_port, cast, closed_connections, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    url = f"http://127.0.0.1:{web_port}"
    console = f"{url}{cast.study.get_absolute_url()}console/"
    async with toy_agent(url, cast.token, tmp_path), tablet(url, cast.operator) as page:
        operator = Operator(page)
        await page.goto(console)
        await stop_and_release(page)
        await operator.press(*["Space"] * 6)
        for number in (1, 2):
            await operator.ordinary_trial(number)
        await operator.trial_with_a_network_cut(3)
        await operator.invalid_trial()
        await operator.trial_submitted_twice(4)
        await operator.trial_undone_and_corrected_at_once(5)
        for number in range(6, 13):
            await operator.ordinary_trial(number)
        await expect(page.get_by_text("All trials are done")).to_be_visible()
        assert statistics.median(operator.counts) == 3
        assert "grounded" not in await page.content()
    await in_thread(check_the_record)(cast.study)


async def stop_and_release(page: Page) -> None:
    """The banner shows what the robot answers."""
    page.once("dialog", lambda dialog: asyncio.ensure_future(dialog.accept()))
    await expect(page.locator("#robot-link")).to_have_class("pill good", timeout=20_000)
    await page.keyboard.press("Escape")
    await expect(page.locator("#stop-banner")).to_be_visible()
    await page.locator("#release").click()
    await expect(page.locator("#stop-banner")).to_be_hidden()


def check_the_record(study: Study) -> None:
    trials = study.trials.all()
    assert trials.filter(status=Trial.Status.CONFIRMED).count() == 12
    invalid = trials.get(status=Trial.Status.INVALID)
    assert invalid.invalid_reason == "Somebody walked into the cell"
    assert invalid.slot.rescheduled_as.block == invalid.slot.block
    assert trials.filter(failure_mode="drift", furthest_stage="carry").count() == 1
    undone = trials.get(failure_mode="missed_pick")
    kinds = list(undone.revisions.order_by("version").values_list("kind", flat=True))
    assert kinds == ["confirmed", "undone", "confirmed"]
    assert TrialRevision.objects.filter(kind="confirmed").count() == 13


async def test_the_pi_unblinds_and_then_the_names_are_there(web_port, cast, closed_connections):
    url = f"http://127.0.0.1:{web_port}"
    async with tablet(url, cast.pi) as page:
        await page.goto(f"{url}{cast.study.get_absolute_url()}")
        await page.fill("#unblind-reason", "interim look")
        await page.get_by_role("button", name="Unblind the study").click()
        await expect(page.get_by_text("Unblinded by")).to_be_visible()
    event = await cast.study.events.aget(kind="unblinded")
    assert event.reason == "interim look"
