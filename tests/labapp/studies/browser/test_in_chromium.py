"""The trial browser, the reset overlay and the second screen in a real browser, with live frames over the socket."""

import asyncio
import io
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from channels.db import database_sync_to_async as in_thread
from PIL import Image
from playwright.async_api import expect

from labapp.live.frames import frame_hub
from labapp.studies.browser.models import RigPicture, TrialNote
from labapp.studies.models import Trial
from labapp.studies.sessions import CHECKLIST
from tests.chromium import needs_chromium
from tests.labapp.studies.browser.conftest import happened, recorded, scene
from tests.labapp.studies.browser.in_chromium import shoot, signed_in
from tests.labapp.studies.browser.test_reference import until_paired
from tests.labapp.studies.conftest import Lab, make_lab

pytestmark = [pytest.mark.browser, needs_chromium]


@pytest.fixture
def lab(transactional_db: Any) -> Lab:
    return make_lab()


@pytest.fixture
def pair(lab: Lab, tmp_path: Path) -> list[Trial]:
    """Two recorded trials with events; the next slot begins as the second one did."""
    trials = [lab.confirmed(), until_paired(lab)]
    for number, trial in enumerate(trials):
        recorded(trial, tmp_path, rows=60, start_x=0.2 + 0.1 * number)
        lift = 0.3 + 0.2 * number
        happened(trial, ("started", 0, {}), ("stage", lift, {"stage": "lift"}), ("finished", 1.1, {}))
    return trials


@asynccontextmanager
async def live_camera(cell: str, view: list[Any]) -> AsyncIterator[None]:
    """Publishes the picture in ``view[0]`` as the newest frame of every camera, until left."""

    async def publish() -> None:
        while True:
            file = io.BytesIO()
            Image.fromarray(view[0]).save(file, "JPEG", quality=92)
            for camera in range(3):
                await frame_hub().publish(cell, camera, time.time_ns().to_bytes(8, "big") + file.getvalue())
            await asyncio.sleep(0.1)

    task = asyncio.create_task(publish())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_trial_is_played_frame_by_frame_and_remarked_upon(lab, pair, url):
    first, _ = pair
    async with signed_in(url, lab.operator) as page:
        await page.goto(f"/studies/{lab.study.slug}/trials/{first.pk}/?t=0.50")
        clock = page.locator("#clock")
        await expect(clock).to_have_text("0.50 s")
        await expect(page.locator(".timeline-mark")).to_have_count(3)
        await page.keyboard.press(".")
        await expect(clock).to_have_text("0.52 s")
        await page.keyboard.press("[")
        await expect(clock).to_have_text("0.30 s")
        await expect(page).to_have_url(re.compile("t=0.30$"))
        times = await page.eval_on_selector_all(
            "video", "videos => videos.map((video) => video.currentTime.toFixed(2))"
        )
        assert times == ["0.31"] * 3
        await page.keyboard.press("n")
        await page.keyboard.type("It hesitates here")
        await page.click("#remarks button:has-text('Add')")
        await expect(page.locator(".timeline-mark.note")).to_have_count(1)
        await shoot(page, "trial-browser-light")
        await page.click("#remarks [aria-label='Delete this note']")
        await expect(page.locator("#remarks")).to_contain_text("The note is deleted.")
        await expect(page.locator(".timeline-mark.note")).to_have_count(0)
        await page.click("#remarks button:has-text('Undo')")
        await expect(page.locator("#remarks a[data-time]")).to_have_text("0.30 s")
        await page.click("h1")
        await page.keyboard.press("j")
        await page.wait_for_url(lambda address: str(first.pk) not in address)
        await page.goto(f"/studies/{lab.study.slug}/trials/?outcome=success")
        await page.click("summary:has-text('Keep this filter')")
        await page.fill("[name=name]", "Successes")
        await page.press("[name=name]", "Enter")
        await expect(page.locator(".saved-filter.current")).to_contain_text("Successes")
        await shoot(page, "trial-list-saved-filter")
    note = await in_thread(TrialNote.objects.get)()
    assert note.time_s == 0.3 and note.deleted_at is None


async def test_two_trials_meet_at_the_event(lab, pair, url):
    a, b = pair
    async with signed_in(url, lab.researcher, theme="dark", width=820, height=1180) as page:
        await page.goto(f"/studies/{lab.study.slug}/compare/?a={a.pk}&b={b.pk}&t=0.50&align=stage:lift")
        await expect(page.locator("#clock")).to_have_text("0.50 s")
        side = "(side) => document.querySelector(`video[data-side=${side}]`).currentTime.toFixed(2)"
        await page.wait_for_function(f"({side})('a') === '0.31' && ({side})('b') === '0.51'")
        await expect(page.locator("#joint-legend")).to_contain_text("B")
        await shoot(page, "trial-compare-tablet-dark")
        await page.goto(f"/studies/{lab.study.slug}/trials/{a.pk}/?t=0.30")
        await expect(page.locator("#clock")).to_have_text("0.30 s")
        await shoot(page, "trial-browser-tablet-dark")
        await page.go_back()
        await page.select_option("#align", "start")
        await page.wait_for_function(f"({side})('a') === ({side})('b')")
        await expect(page).to_have_url(re.compile("align=start"))
        await page.click("h1")
        await page.keyboard.press("ArrowRight")
        await page.select_option("#align", "stage:lift")
        await expect(page.locator("#clock")).to_have_text("1.18 s")


async def test_the_reset_overlay_scores_what_was_laid_and_warns_of_a_moved_camera(lab, pair, url):
    view = [scene()]
    async with live_camera(lab.study.cell.slug, view), signed_in(url, lab.operator, width=1180, height=820) as page:
        await page.goto(f"/studies/{lab.study.slug}/console/")
        await expect(page.locator(".no-picture")).to_have_count(0)
        for _ in range(6):
            await page.keyboard.press("Space")
        await expect(page.locator("[data-action=start]")).to_be_visible()
        await expect(page.locator("#rig-drift")).to_have_class("pill good")
        view[0] = scene(0.3)
        await expect(page.locator("#overlay-score")).to_have_class("pill good")
        await expect(page.locator("#rig-drift")).to_have_class("pill good")
        await page.keyboard.press("o")
        await shoot(page, "reset-overlay-over")
        view[0] = scene(0.36)
        await expect(page.locator("#overlay-score")).to_have_class("pill bad")
        await expect(page.locator("#overlay-shift")).to_contain_text("too far right")
        await page.keyboard.press("o")
        await shoot(page, "reset-overlay-difference")
        await page.keyboard.press("o")
        await shoot(page, "reset-overlay-beside")
        await page.set_viewport_size({"width": 820, "height": 1180})
        await page.keyboard.press("o")
        await shoot(page, "reset-overlay-tablet")
        view[0] = scene()[:, list(range(124, 128)) + list(range(124))]
        await expect(page.locator("#rig-drift")).to_contain_text("rig moved")
        await page.goto(f"/studies/{lab.study.slug}/screen/")
        await expect(page.locator("#screen-step")).to_contain_text(lab.operator.username)
        await expect(page.locator(".no-picture")).to_have_count(0)
        await shoot(page, "second-screen-tablet")
    assert await in_thread(RigPicture.objects.count)() == 1


async def test_a_session_held_elsewhere_is_taken_over_and_lost_again(lab, url):
    def begin_elsewhere() -> int:
        body = {"device_id": str(uuid4()), "checklist": dict.fromkeys(CHECKLIST, True), "take_over": True}
        address = f"/api/studies/{lab.study.slug}/session/"
        return lab.client("researcher").post(address, body, content_type="application/json").status_code

    assert await in_thread(begin_elsewhere)() == 201
    async with signed_in(url, lab.operator, width=1180, height=820) as page:
        await page.goto(f"/studies/{lab.study.slug}/console/")
        for _ in range(6):
            await page.keyboard.press("Space")
        await expect(page.locator("#ask-text")).to_contain_text(f"{lab.researcher} holds the session")
        await page.get_by_role("button", name="Take over").click()
        await expect(page.locator("[data-action=start]")).to_be_visible()
        assert await in_thread(begin_elsewhere)() == 201
        await expect(page.locator("#panel")).to_contain_text(f"{lab.researcher} has taken over this session")
        await page.evaluate("labConsole.refresh()")
        await expect(page.locator("#panel")).to_contain_text(f"{lab.researcher} has taken over this session")


async def test_the_second_screen_follows_a_running_trial(lab, url):
    async with signed_in(url, lab.operator, theme="dark") as page:
        await page.goto(f"/studies/{lab.study.slug}/screen/")
        await expect(page.locator("#screen-step")).to_have_text("Next; nobody holds a session yet")
        await expect(page.locator("#screen-reset li")).to_have_count(4)
        trial = await in_thread(lab.start)()
        await expect(page.locator("#screen-timer")).to_be_visible()
        await expect(page.locator("#screen-code")).to_have_text(trial.arm.code)
        await expect(page.locator("#screen-reset li")).to_have_count(0)
        await shoot(page, "second-screen-running-dark")
