"""The results page in a real browser: it draws, filters through the address, follows the theme, asks no other host."""

import pytest
from playwright.sync_api import expect

from labapp.accounts.models import User
from tests.chromium import screenshot
from tests.labapp.results.conftest import build_study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def page(page_of, pi: User) -> object:
    build_study()
    return page_of(pi)


def test_the_page_draws_filters_and_follows_the_theme(page, live_server) -> None:
    page.goto(f"{live_server.url}/results/pick-and-sort/")
    page.wait_for_selector("#success-table tbody tr")
    page.wait_for_selector("#success-bars .plotly .bars path")
    page.wait_for_selector("#effects-forest .plotly .points path")
    expect(page.locator("#success-table tbody tr")).to_have_count(5)
    screenshot(page, "results-light")

    page.get_by_label("Nominal", exact=True).check()
    page.wait_for_url("**/results/pick-and-sort/?conditions=nominal")
    page.wait_for_function("!document.querySelector('#success-table').textContent.includes('43/50')")
    page.go_back()
    page.wait_for_function("document.querySelector('#success-table').textContent.includes('43/50')")
    expect(page.get_by_label("Nominal", exact=True)).not_to_be_checked()

    page.locator("[data-toggle-theme]").click()
    page.wait_for_function("document.querySelector('#success-bars').innerHTML.includes('rgb(86, 180, 233)')")
    expect(page.get_by_text("Nominal", exact=True).first).to_have_css("color", "rgb(236, 237, 237)")
    screenshot(page, "results-dark")
    assert page.troubles == []


def test_a_permalink_reproduces_the_view_at_every_reload(page, live_server) -> None:
    for _ in range(3):
        page.goto(f"{live_server.url}/results/pick-and-sort/?conditions=red-light&confidence=0.9")
        page.wait_for_selector("#success-table tbody tr")
        expect(page.get_by_label("Red light", exact=True)).to_be_checked()
        expect(page.locator("#success-table")).to_contain_text("21/26")
    assert page.troubles == []
