"""The stopping rule on the design page in a real browser: its power follows the form."""

import pytest
from playwright.sync_api import expect

from labapp.accounts.models import User
from labapp.studies.models import Study
from tests.chromium import screenshot

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_the_power_follows_the_chosen_rule(page_of, live_server, researcher: User, draft: Study) -> None:
    page = page_of(researcher)
    page.goto(f"{live_server.url}/studies/{draft.slug}/design/")
    page.wait_for_selector("#power .power-table")
    expect(page.locator("#stopping-table")).to_have_count(0)
    page.locator("#id_primary input[value=main_a]").check()
    page.locator("#id_primary input[value=main_b]").check()
    page.locator("#id_looks").fill("4")
    page.locator("input[name=stopping][value=group-sequential]").check()
    page.wait_for_selector("#stopping-table")
    page.wait_for_selector("[data-power-figure=stopping] .scatterlayer path")
    expect(page.locator("#power")).to_contain_text("found in 83% of studies")
    screenshot(page, "stopping-looks-light", part="#power")
    page.locator("[data-toggle-theme]").click()
    page.locator("input[name=stopping][value=anytime]").check()
    page.wait_for_function("document.querySelector('#stopping-title').innerText.includes('betting')")
    page.wait_for_selector("[data-power-figure=stopping] .scatterlayer path")
    screenshot(page, "stopping-anytime-dark", part="#power")
    page.set_viewport_size({"width": 400, "height": 800})
    page.wait_for_function("document.documentElement.scrollWidth === 400")
    assert page.troubles == []
