"""Drafts and imports in a real browser: two people at one draft, another cell, the order, a table with its progress."""

import pytest
from playwright.sync_api import expect

from labapp.accounts.models import User
from labapp.studies.models import Study, Trial
from tests.labapp import builders
from tests.labapp.studies.design.test_browser import screenshot

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SIZES = {"wide": (1440, 900), "tablet": (820, 1180)}


# What the progress says while the answer is awaited; the page that follows can read it.
REMEMBER = """
const words = document.querySelector(".sending small");
const keep = () => sessionStorage.setItem("told", (sessionStorage.getItem("told") || "") + words.textContent + ";");
new MutationObserver(keep).observe(words, { childList: true });
"""


def in_all_looks(page, name: str) -> None:
    """Light and dark, wide and on a tablet; nothing but tables scrolls sideways."""
    for size, (width, height) in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        for theme in ("light", "dark"):
            if page.evaluate("document.documentElement.dataset.theme || 'light'") != theme:
                page.locator("[data-toggle-theme]").click()
            screenshot(page, f"{name}-{size}-{theme}")
        page.wait_for_function(f"document.documentElement.scrollWidth <= {width}")
    page.locator("[data-toggle-theme]").click()


def test_two_researchers_at_one_draft(page_of, researcher: User, make_user, live_server, draft: Study) -> None:
    ann, ben = page_of(researcher), page_of(make_user("researcher", username="ben"))
    address = f"{live_server.url}/studies/{draft.slug}/design/"
    for page in (ann, ben):
        page.goto(address)
    ann.get_by_label("Seed").fill("11")
    ann.keyboard.press("Control+s")
    ann.wait_for_selector("text=The draft is saved")
    ben.get_by_label("Question").fill("Ben's question, typed for ten minutes")
    ben.keyboard.press("Control+s")
    ben.wait_for_selector("text=researcher saved this draft")
    expect(ben.get_by_label("Question")).to_have_value("Ben's question, typed for ten minutes")
    in_all_looks(ben, "draft-conflict")
    ben.get_by_role("button", name="Save mine over it").click()
    ben.wait_for_selector("text=The draft is saved")
    draft.refresh_from_db()
    assert (draft.question, draft.seed) == ("Ben's question, typed for ten minutes", 4)
    ben.get_by_role("button", name="Bring back version 2").click()
    ben.wait_for_selector("text=Version 2 is back")
    draft.refresh_from_db()
    assert (draft.question, draft.seed) == ("", 11)
    assert ann.troubles == [] and [t for t in ben.troubles if "409" not in t] == []


def test_a_researcher_looks_at_the_order_changes_the_cell_and_copies(page_of, researcher, live_server, draft) -> None:
    other = builders.cell(name="Second rig", slug="second", embodiment="one_arm")
    page = page_of(researcher)
    page.goto(f"{live_server.url}/studies/{draft.slug}/design/")
    page.get_by_text("The order that a lock would freeze").click()
    page.wait_for_selector("table.order")
    expect(page.locator("table.order tbody tr")).to_have_count(5)
    page.wait_for_selector("#power .power-table")
    page.get_by_text("Delete this draft").click()
    in_all_looks(page, "draft-order")
    page.get_by_label("Cell").select_option(str(other.pk))
    page.wait_for_selector("text=objects and policies of Second rig; nothing is saved yet")
    expect(page.locator(".notice", has_text="Left out")).to_contain_text("Left out, as they are not of this cell: ")
    in_all_looks(page, "draft-other-cell")
    draft.refresh_from_db()
    assert draft.cell != other
    page.goto(f"{live_server.url}/studies/{draft.slug}/")
    page.get_by_role("link", name="Use as a template").click()
    page.wait_for_selector("text=Name of the new study")
    in_all_looks(page, "draft-copy")
    page.get_by_label("Name of the new study").fill("Second round")
    page.get_by_role("button", name="Create draft").click()
    page.wait_for_url("**/studies/second-round/design/")
    page.wait_for_selector("#power .power-table")
    assert page.troubles == []


def test_a_locked_design_shows_its_hashes(page_of, researcher, live_server, study: Study) -> None:
    page = page_of(researcher)
    page.goto(f"{live_server.url}/studies/{study.slug}/design/")
    page.wait_for_selector("text=Taken again from the rows just now")
    page.wait_for_selector("#power .power-table")
    in_all_looks(page, "locked-hash")
    assert page.troubles == []


def test_a_large_table_shows_how_far_it_is_and_is_undone(page_of, researcher, live_server, tmp_path) -> None:
    path = tmp_path / "past.csv"
    rows = (f"P{n % 2};{n // 2};{'WAHR' if n % 3 else 'FALSCH'};{n % 9},5" for n in range(12_000))
    path.write_bytes("\n".join(["policy;seed;success;duration_s", *rows]).encode("latin-1"))
    page = page_of(researcher)
    page.goto(f"{live_server.url}/studies/import/")
    page.get_by_label("Outcome tables").set_input_files(str(path))
    page.get_by_role("button", name="Look at the tables").click()
    page.wait_for_selector("form.mapping")
    page.get_by_label("Name of the study").fill("Past rollouts")
    page.get_by_label("Where it comes from").fill("Rig of the summer school")
    page.get_by_role("button", name="Check every row").click()
    page.wait_for_selector("#checked-title")
    in_all_looks(page, "import-checked")
    page.evaluate(REMEMBER)
    page.get_by_role("button", name="Check and import").click()
    page.wait_for_url("**/results/past-rollouts/")
    assert Trial.objects.count() == 12_000
    told = page.evaluate("sessionStorage.getItem('told')")
    assert "of 12,000 trials stored" in told
    page.goto(f"{live_server.url}/studies/past-rollouts/")
    page.get_by_text("Undo the import").first.click()
    in_all_looks(page, "import-source")
    page.get_by_role("button", name="Undo the import of").click()
    page.wait_for_selector("text=12000 trials are gone from here")
    assert not Study.objects.exists()
    assert page.troubles == []


def test_a_bad_row_37_is_shown_before_anything_is_stored(page_of, researcher, live_server, tmp_path) -> None:
    lines = ["policy,seed,success", *[f"A,{n},1" for n in range(60)]]
    lines[36], lines[50] = "A,36,nearly", "A,50"
    path = tmp_path / "bad.csv"
    path.write_text("\n".join(lines))
    page = page_of(researcher)
    page.goto(f"{live_server.url}/studies/import/")
    page.get_by_label("Outcome tables").set_input_files(str(path))
    page.get_by_role("button", name="Look at the tables").click()
    page.get_by_label("Name of the study").fill("Bad")
    page.get_by_role("button", name="Check and import").click()
    page.wait_for_selector("#refused-title")
    in_all_looks(page, "import-refused")
    expect(page.get_by_label("Name of the study")).to_have_value("Bad")
    assert not Study.objects.exists()
