"""The card "Simulated beside real" in a real browser, in both themes, and its way to the rollouts."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from playwright.sync_api import expect

from labapp.accounts.models import User
from labapp.studies.models import Study
from tests.chromium import screenshot
from tests.labapp.evaluations.conftest import finished
from tests.labapp.results.conftest import build_study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
CARD = "section.card:has(#simulated)"


@pytest.fixture
def page(page_of, researcher: User, unblind) -> object:
    study = build_study()
    unblind(study)
    with ThreadPoolExecutor(1) as pool:  # launching tells sockets, which no thread with the browser's event loop may
        pool.submit(evaluate, study).result()
    return page_of(researcher)


def evaluate(study: Study) -> None:
    finished(study, study.cell.worlds.get(name="measured"), (9, 12, 13, 15, 17), amount="each", rollouts=10)
    connection.close()


def test_the_card_draws_both_sides_and_a_number_opens_its_rollouts(page, live_server) -> None:
    page.goto(f"{live_server.url}/results/pick-and-sort/")
    page.wait_for_selector("#sim-beside-real .plotly .points path")
    expect(page.locator("#beside-table tbody tr")).to_have_count(5 * 3)
    expect(page.locator("#simulated")).to_contain_text("Pearson r")
    screenshot(page, "simulated-light", part=CARD)
    page.locator("[data-toggle-theme]").click()
    page.wait_for_function("document.querySelector('#sim-beside-real').innerHTML.includes('rgb(86, 180, 233)')")
    screenshot(page, "simulated-dark", part=CARD)
    page.set_viewport_size({"width": 768, "height": 1024})
    page.wait_for_function("innerWidth === 768 && document.documentElement.scrollWidth <= innerWidth")
    screenshot(page, "simulated-tablet", part=CARD)
    page.locator("#beside-table a").first.click()
    page.wait_for_url("**/rollouts/?policy=*")
    expect(page.locator("tbody tr")).to_have_count(20)
    assert page.troubles == []


def test_without_an_evaluation_the_button_opens_the_form_for_this_study(page_of, researcher, live_server) -> None:
    study = build_study("fresh-study")
    page = page_of(researcher)
    page.goto(f"{live_server.url}/results/{study.slug}/")
    page.get_by_role("link", name="Evaluate in simulation").click()
    page.wait_for_url("**/evaluations/new/?study=fresh-study")
    expect(page.locator("#id_study option:checked")).to_have_text("Pick and sort")
    expect(page.locator("#id_world option:checked")).to_contain_text("measured v1 (grounded)")
    screenshot(page, "simulated-form")
    assert page.troubles == []
