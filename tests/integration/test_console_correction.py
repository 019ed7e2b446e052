"""A past trial is corrected by keyboard alone: found, opened, refused once, corrected, its old outcome kept."""

from datetime import timedelta
from uuid import uuid4

import pytest
from channels.db import database_sync_to_async as in_thread
from django.utils import timezone
from playwright.async_api import Page, expect

from labapp.studies.models import Trial, TrialRevision
from labapp.studies.trials import Outcome, trial_confirm, trial_start
from tests.chromium import needs_chromium
from tests.integration.console_stage import Cast, by_keys, tab_to, tablet

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    needs_chromium,
]


async def test_a_past_trial_is_corrected_by_keyboard_alone(web_port, cast, closed_connections):
    await in_thread(scored_an_hour_ago)(cast)
    url = f"http://127.0.0.1:{web_port}"
    async with tablet(url, cast.operator) as page:
        await page.goto(f"{url}{cast.study.get_absolute_url()}console/")
        await enter(page, "[aria-label='Back to the study']")
        await enter(page, "main a[href$='/trials/']")
        await enter(page, "table.trials tbody tr:nth-child(1) td:nth-child(1) a")
        await enter(page, "#correct summary")
        await page.keyboard.press("Tab")
        await by_keys(page, is_success="true", furthest_stage="lift", failure_mode="missed_pick")
        await with_reason(page)
        await expect(page.get_by_text("has no failure mode")).to_be_visible()
        await expect(page.locator("#id_failure_mode")).to_be_focused()
        await page.keyboard.press("Shift+Tab")
        await page.keyboard.press("Shift+Tab")
        await by_keys(page, is_success="false", furthest_stage="release", failure_mode="wrong_bin")
        await with_reason(page)
        await expect(page.get_by_text("The outcome is corrected")).to_be_visible()
        row = page.locator("[aria-labelledby=history-title] tbody tr").filter(has_text="the wrong bin, seen on video")
        await expect(row.locator("td").nth(2)).to_contain_text("success")
        await expect(row.locator("td").nth(3)).to_contain_text("wrong bin at release")
    await in_thread(check_the_record)()


async def enter(page: Page, target: str) -> None:
    await tab_to(page, page.locator(target).first)
    await page.keyboard.press("Enter")
    await page.wait_for_load_state()


async def with_reason(page: Page) -> None:
    await tab_to(page, page.locator("#id_reason"))
    await page.keyboard.press("Control+a")
    await page.keyboard.type("the wrong bin, seen on video")
    await page.keyboard.press("Enter")


def scored_an_hour_ago(cast: Cast) -> None:
    now = timezone.now() - timedelta(hours=1)
    trial = trial_start(trial_id=uuid4(), study=cast.study, operator=cast.operator, now=now)
    success = Outcome(is_success=True, furthest_stage="placed")
    trial_confirm(trial=trial, outcome=success, version=trial.version, actor=cast.operator, now=now)


def check_the_record() -> None:
    correction = TrialRevision.objects.get(kind="corrected")
    assert (correction.before["is_success"], correction.before["furthest_stage"]) == (True, "placed")
    trial = Trial.objects.get()
    assert (trial.is_success, trial.furthest_stage, trial.failure_mode) == (False, "release", "wrong_bin")
