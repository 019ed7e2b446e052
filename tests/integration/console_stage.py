"""What browser tests of the console share: a study with its people, a toy robot, a tablet, an operator at its keys."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.async_api import Locator, Page, async_playwright, expect

from labapp import storage
from labapp.accounts.models import User
from labapp.cells.agents import agent_create
from labapp.studies import services
from labapp.studies.models import Study
from labapp.studies.presets import ConditionPreset
from robots.agent.agent import Agent, AgentOptions
from robots.agent.policy import PolicyPool
from tests.chromium import CHROMIUM, FLAGS, PATIENCE_MS
from tests.labapp import builders
from tests.robots.agent.conftest import FAKE_POLICY, ToyRig

PASSWORD = "correct horse"
LONGEST_WAY = 100  # tabs
LETTERS = {"true": "s", "false": "f"}  # success, failure; other choices begin as their values do
NAMED = "--host-resolver-rules=MAP testserver 127.0.0.1"  # an address that is no secure context, as in a lab's network


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
async def toy_agent(url: str, token: str, tmp_path: Path, rig: ToyRig | None = None) -> AsyncIterator[None]:
    pool = PolicyPool(
        tmp_path / "policy.log", command=lambda folder, path: [sys.executable, str(FAKE_POLICY), str(folder), str(path)]
    )
    agent = Agent(AgentOptions(url, token, tmp_path / "agent"), rig or ToyRig(length=25), pool)
    task = asyncio.create_task(agent.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def tablet(url: str, user: User, width: int = 1180, height: int = 820) -> AsyncIterator[Page]:
    """A signed-in browser of a tablet's size; any error in a script fails the test."""
    errors: list[str] = []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, NAMED])
        context = await browser.new_context(viewport={"width": width, "height": height})
        page = await context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("pageerror", lambda error: errors.append(str(error)))
        await sign_in(page, url, user)
        yield page
        await browser.close()
    assert errors == []


async def sign_in(page: Page, url: str, user: User) -> None:
    await page.goto(f"{url}/login/")
    await page.fill("[name=username]", user.username)
    await page.fill("[name=password]", PASSWORD)
    await page.press("[name=password]", "Enter")
    await page.wait_for_url(lambda address: "/login/" not in address)


async def by_keys(page: Page, **values: str) -> None:
    """From the form's first choice on: the first letter chooses, Tab leads to the next one."""
    for name, value in values.items():
        choice = page.locator(f"#id_{name}")
        await expect(choice).to_be_focused()
        await page.keyboard.press(LETTERS.get(value, value[0]))
        await expect(choice).to_have_value(value)
        await page.keyboard.press("Tab")


async def tab_to(page: Page, target: Locator) -> None:
    """Presses Tab until the target has the focus."""
    for _ in range(LONGEST_WAY):
        if await target.evaluate("element => element === document.activeElement"):
            return
        await page.keyboard.press("Tab")
    raise AssertionError(f"{target} is not reached by {LONGEST_WAY} tabs")


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

    async def begin(self) -> None:
        """Tick the checklist and begin the session."""
        await expect(self.page.locator("#checks")).to_be_visible()
        await self.press(*["Space"] * 6)
        await expect(self.page.locator("[data-action=start]")).to_be_visible()

    async def start(self) -> None:
        await expect(self.page.locator("[data-action=start]")).to_be_enabled()
        self.count = 0
        await self.press("Space")
        await expect(self.page.locator("[data-action=accept]")).to_be_visible()

    async def scored(self, number: int) -> None:
        await expect(self.page.locator("#progress-text")).to_have_text(f"{number} of 12")
        self.counts.append(self.count)
