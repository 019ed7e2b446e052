"""Two trials side by side: partners, views that one lacks, trials of other studies."""

import pytest
from django.test import Client

from labapp.studies.browser.comparison import comparison, partners
from tests.labapp.studies.browser.conftest import happened


def url(lab, **trials) -> str:
    return f"/studies/{lab.study.slug}/compare/?" + "&".join(f"{k}={getattr(v, 'pk', v)}" for k, v in trials.items())


def test_both_trials_are_shown_by_their_codes(lab, record):
    a, b = record(lab.confirmed()), record(lab.confirmed())
    happened(a, ("finished", 0.5, {}))
    happened(b, ("finished", 0.4, {}))
    page = lab.client("operator").get(url(lab, a=a, b=b, t=0.3)).content.decode()
    assert a.arm.code in page and b.arm.code in page and a.arm.label not in page
    assert page.count("<video") == 6 and '<option value="finished"' in page
    assert a.arm.label in lab.client("researcher").get(url(lab, a=a, b=b)).content.decode()


def test_a_view_that_one_lacks_says_so(lab, record):
    a, b = record(lab.confirmed()), record(lab.confirmed(), views=("head",))
    rows = dict(comparison(a, b)["rows"])
    assert rows["left_wrist"][0][1] is not None and rows["left_wrist"][1][1] is None
    assert lab.client("pi").get(url(lab, a=a, b=b)).content.decode().count("No video of this view.") == 2


def test_trials_without_any_recording_are_compared_in_words(lab):
    a, b = lab.confirmed(), lab.confirmed()
    assert "Neither trial has a video." in lab.client("operator").get(url(lab, a=a, b=b)).content.decode()


def test_partners_that_began_from_the_same_state_come_first(lab):
    a, b, c = (lab.confirmed() for _ in range(3))
    titles = dict(partners(lab.study, a))
    same = [trial for trial in (b, c) if trial.slot.seed == a.slot.seed]
    assert set(titles.get("Same block and initial state", [])) == set(same)
    page = lab.client("operator").get(url(lab, a=a)).content.decode()
    assert f"b={b.pk}" in page and f"b={c.pk}" in page


@pytest.mark.parametrize("key", ["nonsense", "9aa40fc0-ddac-455b-a92e-80ef22f39b63"])
def test_a_trial_that_is_not_of_this_study_is_not_found(lab, key):
    assert lab.client("operator").get(url(lab, a=key)).status_code == 404


def test_without_trials_the_page_says_where_to_begin(lab):
    assert "Choose a trial first" in lab.client("operator").get(url(lab)).content.decode()


def test_strangers_are_sent_to_the_login(lab):
    assert Client().get(url(lab)).status_code == 302
