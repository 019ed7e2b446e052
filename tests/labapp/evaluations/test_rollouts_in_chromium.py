"""The table of rollouts and the player of one, in a real browser."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db import connection
from playwright.sync_api import expect

from labapp.evaluations.models import Evaluation
from labapp.evaluations.params import EvaluateOptions
from labapp.evaluations.services import study_evaluate
from tests.chromium import screenshot
from tests.labapp import builders
from tests.labapp.evaluations.conftest import recorded
from tests.labapp.studies.conftest import Lab, make_lab

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def made(out: Path) -> tuple[Lab, Evaluation]:
    lab = make_lab()
    world = builders.world(lab.study.cell, "measured", is_grounded=True)
    evaluation = study_evaluate(actor=None, study=lab.study, world=world, options=EvaluateOptions())
    recorded(evaluation, (5, 2), out)
    connection.close()
    return lab, evaluation


def test_a_row_opens_its_rollout_whose_playhead_moves_video_and_address(page_of, live_server, tmp_path) -> None:
    with ThreadPoolExecutor(1) as pool:  # launching tells sockets, which no thread with the browser's event loop may
        lab, evaluation = pool.submit(made, tmp_path / "out").result()
    page = page_of(lab.researcher)
    page.goto(f"{live_server.url}{evaluation.get_absolute_url()}rollouts/")
    page.select_option("#id_outcome", "success")
    page.wait_for_url("**/rollouts/?outcome=success")
    screenshot(page, "rollouts-filtered")
    page.locator("th a", has_text="Rollout").click()
    page.wait_for_url("**/rollouts/?outcome=success&sort=rollout")
    expect(page.locator("th[aria-sort=ascending]")).to_have_text("Rollout")
    expect(page.locator("tbody tr")).to_have_count(7)
    screenshot(page, "rollouts")
    page.get_by_role("link", name="Rollout 1", exact=True).first.click()
    page.wait_for_function("document.querySelector('#playback video').duration > 0.15")
    expect(page.locator("#stage-strip button")).to_have_count(2)
    page.keyboard.press(".")
    page.wait_for_url("**t=0.02")
    page.wait_for_function("Math.abs(document.querySelector('#playback video').currentTime - 0.03) < 0.011")
    screenshot(page, "rollout")
    page.keyboard.press("j")
    page.wait_for_url("**/rollouts/*/1/?outcome=success&sort=rollout")
    assert page.troubles == []
