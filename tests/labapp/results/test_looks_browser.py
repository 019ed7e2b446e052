"""The card of a stopping rule in a real browser, in both themes and on a phone."""

import random

import pytest
from playwright.sync_api import expect

from labapp.accounts.models import User
from labapp.studies.models import Study
from tests.chromium import screenshot
from tests.labapp.results.looked import looked_study, run_blocks

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
CARD = "section:has(> .card-body > #looks)"
PAPER = {"GG": 0.86, "GU": 0.82, "UG": 0.5, "UU": 0.44, "real": 0.52}
LOOKS = {"stopping": "group-sequential", "looks": 4, "adjustment": "holm"}
RULES = {
    "group-sequential": (LOOKS, ["main_a", "main_b", "GG:real"], "Go on: world grounding is decided"),
    "pairs": (LOOKS, [], "Go on: "),
    "anytime": ({"stopping": "anytime", "adjustment": "holm"}, ["main_a", "main_b", "GG:real"], "are decided"),
}


def drawn(study: Study, last: int) -> None:
    """Blocks with outcomes drawn by the rates, so that the figure looks like a study."""
    run_blocks(study, 1, last, PAPER)
    for trial in study.trials.select_related("arm", "slot"):
        label, block = trial.arm.label, trial.slot.block
        is_success = random.Random(f"{label} {block}").random() < PAPER[label]
        stage, mode = ("placed", "") if is_success else ("lift", "dropped")
        study.trials.filter(pk=trial.pk).update(is_success=is_success, furthest_stage=stage, failure_mode=mode)


@pytest.mark.parametrize("rule", ["group-sequential", "anytime", pytest.param("pairs", marks=pytest.mark.slow)])
def test_the_card_draws_in_both_themes_and_fits_a_phone(page_of, live_server, pi: User, rule: str) -> None:
    plan, primary, verdict = RULES[rule]
    study = looked_study(pi, plan, primary, blocks=48)
    drawn(study, 38)
    page = page_of(pi)
    page.goto(f"{live_server.url}/results/{study.slug}/")
    page.wait_for_selector("#looks-figure .scatterlayer path")
    expect(page.locator(".looks-verdict")).to_contain_text(verdict)
    expect(page.locator("#looks-table tbody tr")).to_have_count(len(primary) or 10)
    screenshot(page, f"looks-{rule}-light", part=CARD)
    page.locator("[data-toggle-theme]").click()
    page.wait_for_function("document.querySelector('#looks-figure').innerHTML.includes('rgb(86, 180, 233)')")
    screenshot(page, f"looks-{rule}-dark", part=CARD)
    page.set_viewport_size({"width": 400, "height": 800})
    page.wait_for_function("document.documentElement.scrollWidth === 400")
    screenshot(page, f"looks-{rule}-phone", part=CARD)
    assert page.troubles == []
