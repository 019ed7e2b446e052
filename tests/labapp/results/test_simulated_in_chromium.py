"""The card "Simulated beside real" in a real browser, in both themes, and its way to the rollouts."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

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
    assert page.locator("#beside-table tbody tr").count() == 5 * 3
    assert "Pearson r" in page.locator("#simulated").inner_text()
    screenshot(page, "simulated-light", part=CARD)
    page.locator("[data-toggle-theme]").click()
    page.wait_for_function("document.querySelector('#sim-beside-real').innerHTML.includes('rgb(86, 180, 233)')")
    screenshot(page, "simulated-dark", part=CARD)
    page.set_viewport_size({"width": 768, "height": 1024})
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    screenshot(page, "simulated-tablet", part=CARD)
    page.locator("#beside-table a").first.click()
    page.wait_for_url("**/rollouts/?policy=*")
    assert page.locator("tbody tr").count() == 20
    assert page.troubles == []


def test_without_an_evaluation_the_button_opens_the_form_for_this_study(page_of, researcher, live_server) -> None:
    study = build_study("fresh-study")
    page = page_of(researcher)
    page.goto(f"{live_server.url}/results/{study.slug}/")
    page.get_by_role("link", name="Evaluate in simulation").click()
    page.wait_for_url("**/evaluations/new/?study=fresh-study")
    assert page.locator("#id_study option:checked").inner_text() == "Pick and sort"
    assert page.locator("#id_world option:checked").inner_text().startswith("measured v1 (grounded)")
    screenshot(page, "simulated-form")
    assert page.troubles == []
