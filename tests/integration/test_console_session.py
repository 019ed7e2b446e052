"""A whole session of twelve trials in a real browser, by keyboard alone, with everything that goes wrong on the way."""

import asyncio
import statistics

import pytest
from channels.db import database_sync_to_async as in_thread
from playwright.async_api import Page, expect

from labapp.studies.models import Study, Trial, TrialRevision
from tests.chromium import needs_chromium
from tests.integration.console_stage import Operator, by_keys, tablet, toy_agent
from tests.integration.web_server import ROOT

pytestmark = [pytest.mark.browser, needs_chromium]


class Session(Operator):
    """The trials of a whole session, ordinary and otherwise."""

    async def ordinary_trial(self, number: int) -> None:
        await self.start()
        await self.press("a", "Enter")
        await self.scored(number)

    async def trial_with_a_network_cut(self, number: int, cut_s: float) -> None:
        await self.start()
        await self.page.context.set_offline(True)
        await self.press("4", "r", "Enter")
        await expect(self.page.locator("#waiting-text")).to_contain_text("1 decision waits")
        await asyncio.sleep(cut_s)
        await self.page.context.set_offline(False)
        await self.scored(number)

    async def invalid_trial(self) -> None:
        await self.start()
        await self.press("i")
        await self.page.keyboard.type("Somebody walked into the cell")
        for _ in range(5):
            await self.page.keyboard.press("Tab")
        await self.page.keyboard.press("Enter")
        await expect(self.page.locator("[data-action=start]")).to_be_visible()

    async def trial_submitted_twice(self, number: int) -> None:
        await self.start()
        await self.press("s", "Enter", "Enter")
        await self.scored(number)

    async def trial_undone_and_corrected_at_once(self, number: int) -> None:
        await self.start()
        await self.press("a", "Enter")
        await expect(self.page.locator("[data-action=undo]")).to_be_visible()
        await self.press("u")
        await expect(self.page.locator("[data-action=confirm]")).to_be_visible()
        await self.press("1", "q", "Enter")
        await self.scored(number)


@pytest.mark.parametrize("cut_s", [1.0, pytest.param(30.0, marks=pytest.mark.slow)])
async def test_twelve_trials_by_keyboard(web_port, cast, closed_connections, tmp_path, monkeypatch, cut_s):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    url = f"http://127.0.0.1:{web_port}"
    console = f"{url}{cast.study.get_absolute_url()}console/"
    async with toy_agent(url, cast.token, tmp_path), tablet(url, cast.operator) as page:
        operator = Session(page)
        await page.goto(console)
        await stop_and_release(page)
        await operator.press(*["Space"] * 6)
        for number in (1, 2):
            await operator.ordinary_trial(number)
        await operator.trial_with_a_network_cut(3, cut_s)
        await operator.invalid_trial()
        await operator.trial_submitted_twice(4)
        await operator.trial_undone_and_corrected_at_once(5)
        for number in range(6, 13):
            await operator.ordinary_trial(number)
        await expect(page.get_by_text("All trials are done")).to_be_visible()
        assert statistics.median(operator.counts) == 3
        assert "grounded" not in await page.content()
        await corrected_with_its_reason(page)
    await in_thread(check_the_record)(cast.study)
    async with tablet(url, cast.pi) as page:
        await unblind(page, f"{url}{cast.study.get_absolute_url()}", "all twelve trials are scored")
    async with tablet(url, cast.operator) as page:
        await page.goto(f"{url}{cast.study.get_absolute_url()}")
        await expect(page.get_by_text("grounded-adapt").first).to_be_visible()


async def corrected_with_its_reason(page: Page) -> None:
    """Once the undo has run out, a key leads to the form, which is open and starts from no outcome."""
    await expect(page.locator("#correct-last")).to_be_visible()
    await page.keyboard.press("c")
    await expect(page.locator("#id_is_success")).to_be_focused()
    await by_keys(page, is_success="false", furthest_stage="lift", failure_mode="dropped")
    await expect(page.locator("#id_note")).to_be_focused()
    await page.keyboard.press("Tab")
    await page.keyboard.type("it slipped out, seen on video")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("The outcome is corrected")).to_be_visible()
    await expect(page.get_by_text("it slipped out, seen on video")).to_be_visible()


async def stop_and_release(page: Page) -> None:
    """The banner shows what the robot answers."""
    await expect(page.locator("#robot-link")).to_have_class("pill good")
    await page.keyboard.press("Escape")
    await expect(page.locator("#stop-banner")).to_be_visible()
    await page.locator("#release").click()
    await page.locator("#ask-yes").click()
    await expect(page.locator("#stop-banner")).to_be_hidden()


def check_the_record(study: Study) -> None:
    trials = study.trials.all()
    assert trials.filter(status=Trial.Status.CONFIRMED).count() == 12
    invalid = trials.get(status=Trial.Status.INVALID)
    assert invalid.invalid_reason == "Somebody walked into the cell"
    assert invalid.slot.rescheduled_as.block == invalid.slot.block
    assert trials.filter(failure_mode="drift", furthest_stage="carry").count() == 1
    (correction,) = TrialRevision.objects.filter(kind="corrected")
    assert (correction.before["is_success"], correction.after["is_success"]) == (True, False)
    assert correction.trial.failure_mode == "dropped" and correction.reason.startswith("it slipped out")
    undone = trials.get(failure_mode="missed_pick")
    kinds = list(undone.revisions.order_by("version").values_list("kind", flat=True))
    assert kinds == ["confirmed", "undone", "confirmed"]
    assert TrialRevision.objects.filter(kind="confirmed").count() == 13


async def unblind(page: Page, study_url: str, reason: str) -> None:
    await page.goto(study_url)
    await page.fill("#unblind-reason", reason)
    await page.get_by_role("button", name="Unblind the study").click()
    await expect(page.get_by_text("Unblinded by")).to_be_visible()


async def test_the_pi_unblinds_and_then_the_names_are_there(web_port, cast, closed_connections):
    url = f"http://127.0.0.1:{web_port}"
    async with tablet(url, cast.pi) as page:
        await unblind(page, f"{url}{cast.study.get_absolute_url()}", "interim look")
    event = await cast.study.events.aget(kind="unblinded")
    assert event.reason == "interim look"
