"""Saved filters, and going from trial to trial within one."""

from datetime import timedelta
from urllib.parse import urlencode

import pytest
from django.utils import timezone

from labapp.studies.browser.models import SavedFilter, TrialFlag
from labapp.studies.browser.neighbours import neighbours
from labapp.studies.browser.saved import filter_query
from labapp.studies.models import Trial
from labapp.studies.trials import Outcome

FAILURE = Outcome(is_success=False, furthest_stage="carry", failure_mode="dropped")


def save(client, lab, **values):
    body = {"name": "Drops", "query": "outcome=dropped", "is_shared": "on"} | values
    return client.post(f"{lab.study.get_absolute_url()}filters/", {k: v for k, v in body.items() if v is not None})


@pytest.fixture
def trials(lab) -> list[Trial]:
    """Success, failure, success, failure: at different times of the server's clock."""
    made = [lab.confirmed(outcome) for outcome in (Outcome(True, "placed"), FAILURE, Outcome(True, "placed"), FAILURE)]
    for number, trial in enumerate(made):
        trial.started_at = timezone.now() + timedelta(seconds=number)
        trial.save()
    return made


def test_a_shared_filter_is_offered_to_everyone_a_private_one_to_its_owner(lab):
    save(lab.client("operator"), lab)
    save(lab.client("operator"), lab, name="Mine", is_shared=None, query="outcome=success")
    shown = {
        role: lab.client(role).get(f"/studies/{lab.study.slug}/trials/").content.decode() for role in ("operator", "pi")
    }
    assert "Drops" in shown["operator"] and "Mine" in shown["operator"]
    assert "Drops" in shown["pi"] and "Mine" not in shown["pi"]


def test_saving_leads_to_the_filtered_list_and_a_name_again_replaces(lab):
    client = lab.client("operator")
    assert save(client, lab)["Location"] == f"/studies/{lab.study.slug}/trials/?outcome=dropped"
    save(client, lab, query="outcome=success")
    assert SavedFilter.objects.get().query == "outcome=success"


def test_only_filters_are_kept_of_a_query(lab):
    assert filter_query(lab.study, "page=3&t=1.5&outcome=dropped&evil=%3Cb%3E&arm=") == "outcome=dropped"


def test_a_long_query_keeps_all_its_filters_to_the_next_page(lab):
    query = urlencode(
        {"conditions": ",".join(f"condition-{n}" for n in range(60)), "until": "2026-11-30T12:00:00+00:00"}
    )
    assert filter_query(lab.study, query) == query


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"query": "page=2"}, "Choose a filter"),
        ({"query": f"conditions={'c' * 500}"}, "at most 500 are kept"),
        ({"name": ""}, "required"),
    ],
)
def test_a_filter_of_nothing_or_without_a_name_is_not_kept(lab, values, words):
    client = lab.client("operator")
    answer = save(client, lab, **values)
    assert words in client.get(answer["Location"]).content.decode() and SavedFilter.objects.count() == 0


def test_a_shared_name_tells_no_policy(lab):
    save(lab.client("researcher"), lab, name="grounded-world-adapt drops")
    assert SavedFilter.objects.count() == 0


def test_only_the_owner_forgets_a_filter(lab):
    save(lab.client("operator"), lab)
    url = f"{lab.study.get_absolute_url()}filters/{SavedFilter.objects.get().pk}/forget/"
    assert lab.client("pi").post(url).status_code == 404
    assert lab.client("operator").post(url).status_code == 302 and SavedFilter.objects.count() == 0


def test_previous_and_next_stay_within_the_filter(lab, trials):
    found = neighbours(trials[1], "outcome=dropped&t=1.5")
    assert (found.previous, found.next, found.number, found.count) == (None, trials[3], 1, 2)
    page = lab.client("operator").get(f"{trials[1].get_absolute_url()}?outcome=dropped").content.decode()
    assert f"{trials[3].get_absolute_url()}?outcome=dropped" in page and "1 of 2 in the filter" in page


def test_without_a_filter_they_are_the_trials_before_and_after(trials):
    found = neighbours(trials[1], "")
    assert (found.previous, found.next, found.number, found.count) == (trials[0], trials[2], 2, 4)


def test_trials_of_the_same_instant_are_all_reached(trials):
    Trial.objects.update(started_at=trials[0].started_at)
    first = Trial.objects.order_by("started_at", "pk").first()
    seen = [first]
    while (after := neighbours(seen[-1], "").next) is not None:
        seen.append(after)
    assert len(seen) == 4


def test_flagged_trials_are_a_filter(lab, trials):
    TrialFlag.objects.create(trial=trials[2], author=lab.operator, label="check")
    TrialFlag.objects.create(trial=trials[3], author=lab.operator, label="odd", deleted_at=timezone.now())
    for value, expected in (("any", 1), ("check", 1), ("odd", 0), ("note", 0)):
        url = f"/api/studies/{lab.study.slug}/trials/?{urlencode({'flag': value})}"
        answer = lab.client("operator").get(url).json()
        assert len(answer["results"]) == expected, value
