"""The design and the import in a real browser: live power, both themes, by keyboard, no other host asked."""

import pytest
from playwright.sync_api import expect

from labapp.accounts.models import User
from labapp.studies.models import Study
from tests.chromium import screenshot

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
TABLE = "seed,old_success,new_success\n" + "\n".join(f"{n},{n % 2},{int(n % 3 > 0)}" for n in range(40))


@pytest.fixture
def page(page_of, researcher: User) -> object:
    return page_of(researcher)


def test_a_draft_shows_its_power_follows_the_fields_and_is_locked(page, live_server, draft: Study) -> None:
    page.goto(f"{live_server.url}/studies/{draft.slug}/design/")
    page.wait_for_selector("#power .power-table")
    page.wait_for_selector("[data-power-figure=effects] .scatterlayer path")
    expect(page.locator("#power")).to_contain_text("84% of studies (86% by the plain formula)")
    screenshot(page, "design-light")

    page.get_by_label("Trials per arm").first.fill("74")
    page.keyboard.press("Tab")
    page.wait_for_function("document.querySelector('#power').innerText.includes('100 trials per arm')")
    page.locator("[data-toggle-theme]").click()
    page.wait_for_function(
        "document.querySelector('[data-power-figure=effects]').innerHTML.includes('rgb(86, 180, 233)')"
    )
    screenshot(page, "design-dark")

    page.get_by_role("button", name="Save and lock").click()
    page.wait_for_url(f"**/studies/{draft.slug}/")
    page.get_by_role("link", name="Design").click()
    page.get_by_text("Change the time limit").first.click()
    page.get_by_label("New time limit [s]").fill("15")
    page.locator("#id_time-limit-reason").fill("The belt runs slower than planned")
    page.get_by_role("button", name="Change the time limit").click()
    page.wait_for_selector(".deviation")
    page.wait_for_selector("#power .power-table")
    expect(page.locator(".deviation")).to_contain_text("The belt runs slower than planned")
    screenshot(page, "design-locked-dark")
    draft.refresh_from_db()
    assert (draft.status, draft.conditions.get(slug="nominal").trials_per_arm) == ("locked", 74)
    assert page.troubles == []


def test_a_table_is_imported_by_its_guessed_mapping(page, live_server, tmp_path) -> None:
    path = tmp_path / "past.csv"
    path.write_text(TABLE)
    page.goto(f"{live_server.url}/studies/import/")
    page.get_by_label("Outcome tables").set_input_files(str(path))
    screenshot(page, "import-upload-light")
    page.get_by_role("button", name="Look at the tables").click()
    page.wait_for_selector("form.mapping")
    expect(page.locator(".layout-wide")).to_be_visible()
    expect(page.locator(".layout-long")).to_be_hidden()
    page.get_by_label("Name of the study").fill("Past rollouts")
    page.get_by_role("button", name="Check every row").click()
    page.wait_for_selector("#checked-title")
    screenshot(page, "import-checked-light")
    page.locator("[data-toggle-theme]").click()
    screenshot(page, "import-checked-dark")
    page.get_by_role("button", name="Check and import").click()
    page.wait_for_url("**/results/past-rollouts/")
    page.wait_for_selector("#paired-table")
    screenshot(page, "import-results-dark")
    assert Study.objects.get().trials.count() == 80
    assert page.troubles == []


def test_on_a_phone_only_the_tables_scroll_sideways(page, live_server, draft: Study) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    page.goto(f"{live_server.url}/studies/{draft.slug}/design/")
    page.wait_for_selector("#power .power-table")
    page.get_by_text("Pairs of arms").first.click()
    page.wait_for_selector("[data-power-figure=pairs] .scatterlayer path")
    page.wait_for_function("document.documentElement.scrollWidth === 400")
    page.get_by_label("Trials per arm").first.fill("-5")
    page.keyboard.press("Control+s")
    page.wait_for_selector("tr.wrong .errorlist")
    screenshot(page, "design-phone")
