"""Playback in a real browser: every camera on one frame, exact steps, stages, attributions, what others say."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from channels.db import database_sync_to_async as in_thread
from playwright.async_api import Page, expect

from labapp.studies.browser.attribution import from_json
from labapp.studies.browser.attributions import attribution_attach
from labapp.studies.models import Trial
from tests.chromium import needs_chromium
from tests.labapp.studies.browser.conftest import happened, recorded
from tests.labapp.studies.browser.in_chromium import browser, shoot, sign_in, signed_in
from tests.labapp.studies.conftest import Lab, make_lab

ROWS = 300
STAGES = {"approach": 0.0, "contact": 1.2, "lift": 1.9, "carry": 2.6, "release": 4.4, "placed": 5.3}
# The frame that each video shows, from the presentation time of what was composed last.
FRAMES = """() => Promise.all([...document.querySelectorAll("video")].map((video) => new Promise((resolve) => {
    const at = video.currentTime;
    video.requestVideoFrameCallback((_, { mediaTime }) => resolve(Math.round(mediaTime * 50)));
    video.currentTime = at + 1e-4;
})))"""

pytestmark = [pytest.mark.browser, needs_chromium]


@pytest.fixture
def lab(transactional_db: Any) -> Lab:
    return make_lab()


@pytest.fixture
def trial(lab: Lab, tmp_path: Path) -> Trial:
    """Six seconds with every stage, attributions recorded and attached."""
    ramp = np.linspace(0, 1, ROWS, dtype=np.float32)
    shares = {"views": {"head": 0.2 + 0.6 * ramp, "right_wrist": 0.6 - 0.5 * ramp, "left_wrist": 0.2 - 0.1 * ramp}}
    made = recorded(lab.confirmed(), tmp_path, rows=ROWS, attributions=shares)
    stages = [("stage", time_s, {"stage": stage}) for stage, time_s in STAGES.items()]
    happened(made, ("started", 0, {}), *stages, ("finished", 6.0, {}))
    return made


def attach(lab: Lab, trial: Trial) -> None:
    times = [step * 0.25 for step in range(24)]
    wave = [0.5 + 0.4 * np.sin(t) for t in times]
    given = from_json(
        {"time_s": times, "scores": {"real demonstrations": wave, "simulated": [1 - w for w in wave[:-1]] + [None]}}
    )
    attribution_attach(trial=trial, name="mixture", given=given, author=lab.researcher)


async def loaded(page: Page) -> None:
    await page.wait_for_function("[...document.querySelectorAll('video')].every((video) => video.readyState >= 2)")


async def test_every_camera_shows_the_same_frame_and_a_key_is_one_frame(lab, trial, url):
    async with signed_in(url, lab.operator) as page:
        await page.goto(f"/studies/{lab.study.slug}/trials/{trial.pk}/?t=2.46")
        await loaded(page)
        clock = page.locator("#clock")
        await expect(clock).to_have_text("2.46 s")
        assert await page.evaluate(FRAMES) == [123] * 3
        for key, frame in ((".", 124), (".", 125), (",", 124), ("ArrowRight", 174), ("ArrowLeft", 124)):
            await page.keyboard.press(key)
            await expect(clock).to_have_text(f"{frame / 50:.2f} s")
            assert await page.evaluate(FRAMES) == [frame] * 3, key
        await page.keyboard.press(" ")
        await page.wait_for_function("parseFloat(document.querySelector('#clock').textContent) > 3.2")
        await page.keyboard.press(" ")
        shown = await page.evaluate(FRAMES)
        assert len(set(shown)) == 1
        await expect(clock).to_have_text(f"{shown[0] / 50:.2f} s")
        await page.wait_for_url(lambda address: f"t={shown[0] / 50:.2f}" in address)
        await page.reload()
        await loaded(page)
        assert await page.evaluate(FRAMES) == shown


async def test_stages_lead_through_the_trial_and_attributions_lie_below(lab, trial, url):
    await in_thread(attach)(lab, trial)
    async with signed_in(url, lab.researcher) as page:
        await page.goto(f"/studies/{lab.study.slug}/trials/{trial.pk}/")
        await loaded(page)
        stages = page.locator("#stage-strip button")
        await expect(stages).to_have_text(list(STAGES))
        await page.click("#stage-strip button:has-text('carry')")
        await expect(page.locator("#clock")).to_have_text("2.60 s")
        await expect(page.locator("#stage-strip button[data-now]")).to_have_text("carry")
        await page.keyboard.press("]")
        await expect(page.locator("#clock")).to_have_text("4.40 s")
        strips = page.locator("#attributions figure")
        await expect(strips).to_have_count(2)
        await expect(strips.nth(1)).to_contain_text("right wrist 23%")
        canvas = strips.nth(0).locator("canvas")
        await canvas.click(position={"x": 200, "y": 10})
        await expect(page.locator("#clock")).not_to_have_text("4.40 s")
        await shoot(page, "trial-attribution-light")
    async with signed_in(url, lab.operator, theme="dark", width=820, height=1180) as page:
        await page.goto(f"/studies/{lab.study.slug}/trials/{trial.pk}/?t=2.60")
        await expect(page.locator("#stage-strip button[data-now]")).to_have_text("carry")
        await expect(page.locator("#attributions")).to_have_count(0)
        await shoot(page, "trial-stages-tablet-dark")


async def test_a_long_trial_opens_at_its_moment_and_is_read_in_parts(lab, url, tmp_path):
    long = await in_thread(lambda: recorded(lab.confirmed(), tmp_path, views=("head", "left_wrist"), rows=3000))()
    async with signed_in(url, lab.operator) as page:
        await page.goto(f"/studies/{lab.study.slug}/trials/{long.pk}/?t=41.44")
        await loaded(page)
        await expect(page.locator("#clock")).to_have_text("41.44 s")
        assert await page.evaluate(FRAMES) == [2072] * 2
        await page.select_option("#stretch", "5")
        plot = page.locator("#joint-plot")
        width = (await plot.bounding_box())["width"]
        await plot.click(position={"x": 44, "y": 100})
        await expect(page.locator("#clock")).to_have_text("40.00 s")
        await plot.click(position={"x": (44 + width - 10) / 2, "y": 100})
        await expect(page.locator("#clock")).to_have_text(re.compile(r"42\.(48|50|52) s"))
        await shoot(page, "trial-long")


async def test_what_another_says_appears_and_what_one_writes_stays(lab, trial, url):
    async with browser() as opened:
        anna = await sign_in(opened, url, lab.operator)
        ben = await sign_in(opened, url, lab.researcher)
        for page in (anna, ben):
            await page.goto(f"/studies/{lab.study.slug}/trials/{trial.pk}/?t=1.00")
            await loaded(page)
        await ben.keyboard.press("n")
        await ben.keyboard.type("My own")
        await ben.click("#remarks button:has-text('Add')")
        await ben.click("#remarks summary:has-text('Edit')")
        await ben.fill("#remarks details textarea", "half a sent")
        await ben.fill("#remark-text", "and another thou")
        await expect(anna.locator("#remark-list")).to_contain_text("My own")
        await expect(anna.locator(".timeline-mark.note")).to_have_count(1)
        await expect(anna.locator("#remark-news")).to_have_text(f"New from {lab.researcher}")
        await anna.fill("#remark-text", "It slips")
        await anna.select_option("#remarks [name=label]", "odd")
        await anna.click("#remarks button:has-text('Add')")
        await expect(ben.locator("#remark-list")).to_contain_text("It slips")
        await expect(ben.locator("#remarks details textarea")).to_have_value("half a sent")
        await expect(ben.locator("#remark-text")).to_have_value("and another thou")
        await shoot(ben, "trial-remarks-live")
        await ben.click("#remarks details button:has-text('Change')")
        await expect(anna.locator("#remark-list")).to_contain_text("half a sent")
        await anna.click("#remark-list a[data-time]")
        await expect(anna.locator("#clock")).to_have_text("1.00 s")
        assert anna.errors == ben.errors == []


async def test_a_trial_without_video_says_so_and_still_has_its_joints(lab, url, tmp_path):
    trial = await in_thread(lambda: recorded(lab.confirmed(), tmp_path, views=(), rows=60))()
    bare = await in_thread(lab.confirmed)()
    async with signed_in(url, lab.operator) as page:
        await page.goto(f"/studies/{lab.study.slug}/trials/{trial.pk}/?t=0.40")
        await expect(page.locator("#playback")).to_contain_text("This trial has no video")
        await expect(page.locator("#clock")).to_have_text("0.40 s")
        await page.keyboard.press(".")
        await expect(page.locator("#clock")).to_have_text("0.42 s")
        await shoot(page, "trial-without-video")
        await page.goto(f"/studies/{lab.study.slug}/trials/{bare.pk}/")
        await expect(page.locator("#content")).to_contain_text("No recording")


async def test_two_trials_keep_step_while_they_play(lab, trial, url, tmp_path):
    def partner() -> Trial:
        made = recorded(lab.confirmed(), tmp_path, rows=250, start_x=0.4)
        happened(made, ("started", 0, {}), ("stage", 0.0, {"stage": "approach"}), ("stage", 2.0, {"stage": "contact"}))
        return made

    other = await in_thread(partner)()
    async with signed_in(url, lab.researcher, width=1180, height=820) as page:
        await page.goto(f"/studies/{lab.study.slug}/compare/?a={trial.pk}&b={other.pk}&align=stage:contact&t=2.00")
        await loaded(page)
        await expect(page.locator("#clock")).to_have_text("2.00 s")
        assert await page.evaluate(FRAMES) == [60, 100] * 3
        await page.keyboard.press(".")
        assert await page.evaluate(FRAMES) == [61, 101] * 3
        await expect(page.locator("#stages-a button[data-now]")).to_have_text("contact")
        await expect(page.locator("#stages-b button[data-now]")).to_have_text("contact")
        await page.keyboard.press(" ")
        await page.wait_for_function("parseFloat(document.querySelector('#clock').textContent) > 3")
        await page.keyboard.press(" ")
        shown = np.reshape(await page.evaluate(FRAMES), (3, 2))
        assert (shown[:, 1] - shown[:, 0] == 40).all() and (shown == shown[0]).all()
        await expect(page.locator("#attributions-a strong")).to_have_text("A views")
        await expect(page.locator("#attributions-b")).to_be_hidden()
        await shoot(page, "trial-compare-aligned")
