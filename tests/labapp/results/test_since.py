"""A page at a moment stays what it was then: later corrections, invalid trials and undone scores leave it alone."""

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from frontend.dashboards.filters import Filters, parse_filters
from labapp.results.exports import trial_lines
from labapp.results.queries import study_content, study_sensitivity
from labapp.studies.amendments import trials_add
from labapp.studies.models import Study, Trial
from labapp.studies.services import arm_withdraw
from labapp.studies.trials import Outcome, trial_confirm, trial_correct, trial_invalidate, trial_undo
from tests.labapp.results.conftest import START
from tests.labapp.results.looked import ANYTIME, LOOKS, arm, card, looked_study, moment, run_blocks
from tests.labapp.results.test_pages import shown

LOST = Outcome(is_success=False, furthest_stage="lift", failure_mode="dropped")
UNTIL = START + timedelta(hours=1)
LATER = UNTIL + timedelta(seconds=5)
PINNED = Filters(until=UNTIL)


@pytest.fixture
def won(study: Study) -> Trial:
    """A success of the best arm, scored right before the moment."""
    trial = study.trials.filter(arm__label="policy GG", condition__slug="nominal", is_success=True)[0]
    trial.confirmed_at = UNTIL - timedelta(seconds=1)
    trial.save()
    return trial


def corrected(trial: Trial, pi) -> None:
    trial_correct(trial=trial, outcome=LOST, reason="it fell", version=1, actor=pi, now=LATER)


def marked_invalid(trial: Trial, pi) -> None:
    trial_invalidate(trial=trial, reason="the lamp fell", version=1, actor=pi, now=LATER)


def taken_back(trial: Trial, pi) -> None:
    trial_undo(trial=trial, version=1, actor=pi, now=LATER)


CHANGES = [(corrected, "corrected"), (marked_invalid, "marked invalid"), (taken_back, "taken back")]


@pytest.mark.parametrize(("change", "told"), CHANGES)
def test_a_later_change_shows_now_and_leaves_the_page_of_then(study, won, pi, change: Callable, told: str) -> None:
    then, now = study_content(study, pi, PINNED), study_content(study, pi, Filters())
    rows = list(trial_lines(study, PINNED, with_names=True))
    change(won, pi)
    after, changed = study_content(study, pi, PINNED), study_content(study, pi, Filters())
    assert replace(after, since=then.since) == then
    assert list(trial_lines(study, PINNED, with_names=True)) == rows
    assert changed.data_version != now.data_version
    assert changed.rows != now.rows
    assert after.since == f"As of 2026-09-30 10:00 UTC. Since then: 1 trial {told}."


def test_the_model_of_then_is_fitted_to_the_outcomes_of_then(study, won, pi) -> None:
    then = study_sensitivity(study, pi, PINNED)
    corrected(won, pi)
    assert study_sensitivity(study, pi, PINNED) == then
    assert study_sensitivity(study, pi, Filters()) != then


def test_the_looks_of_then_rest_on_the_outcomes_of_then(pi) -> None:
    study = looked_study(pi, LOOKS, ["GG:UU"])
    run_blocks(study, 1, 5)
    at = study.trials.latest("confirmed_at").confirmed_at
    then = card(study, pi, until=at)
    trial = study.trials.filter(arm__label="GG").first()
    trial_correct(trial=trial, outcome=LOST, reason="it fell", version=1, actor=pi, now=at + timedelta(seconds=1))
    assert card(study, pi, until=at) == then
    assert card(study, pi).comparisons[0].path.zs != then.comparisons[0].path.zs


def test_blocks_that_were_added_later_are_not_planned_yet(pi) -> None:
    study = looked_study(pi, ANYTIME, ["GG:UU"])
    run_blocks(study, 1, 3)
    then = card(study, pi, until=moment(3))
    trials_add(study=study, extra={"nominal": 2}, reason="not yet clear", actor=pi, now=moment(4))
    assert card(study, pi, until=moment(3)) == then
    assert (then.planned, card(study, pi).planned) == (20, 22)


def test_the_version_changes_with_all_that_the_looks_follow_from(pi) -> None:
    study = looked_study(pi, LOOKS, ["GG:UU"])
    run_blocks(study, 1, 3)
    then, versions = Filters(until=moment(3)), [study_content(study, pi, Filters()).data_version]
    trials_add(study=study, extra={"nominal": 2}, reason="not yet clear", actor=pi, now=moment(4))
    versions.append(study_content(study, pi, Filters()).data_version)
    arm_withdraw(arm=arm(study, "real"), actor=pi, reason="broken", now=moment(5))
    versions.append(study_content(study, pi, Filters()).data_version)
    assert len(set(versions)) == 3
    assert study_content(study, pi, then).data_version == versions[0]


def test_trials_scored_before_their_block_was_added_by_a_clock_set_back_are_not_in_it_yet(pi) -> None:
    study = looked_study(pi, ANYTIME, ["GG:UU"])
    trials_add(study=study, extra={"nominal": 1}, reason="not yet clear", actor=pi, now=moment(90))
    run_blocks(study, 21, 21)
    assert card(study, pi, until=moment(30)).planned == 20


def test_only_changes_of_the_chosen_trials_are_told(study, won, pi) -> None:
    corrected(won, pi)
    others = replace(PINNED, arms=tuple(study.arms.exclude(pk=won.arm_id).values_list("code", flat=True)))
    assert study_content(study, pi, others).since.endswith("Since then: no trial scored or changed.")


def test_a_score_that_came_later_is_told_and_its_correction_is_not_told_twice(study, pi) -> None:
    arm, condition = study.arms.first(), study.conditions.first()
    trial = Trial.objects.create(study=study, arm=arm, condition=condition, status="proposed", started_at=START)
    trial = trial_confirm(trial=trial, outcome=LOST, version=1, actor=pi, now=LATER)
    won = Outcome(is_success=True, furthest_stage="placed")
    trial_correct(trial=trial, outcome=won, reason="it held", version=2, actor=pi, now=LATER + timedelta(minutes=1))
    content = study_content(study, pi, PINNED)
    assert content.since.endswith("Since then: 1 trial scored.")
    assert (content.counts.confirmed, content.counts.waiting) == (250, 1)


def test_a_trial_that_was_corrected_and_then_marked_invalid_is_told_as_both(study, won, pi) -> None:
    corrected(won, pi)
    trial_invalidate(trial=won, reason="the lamp fell", version=2, actor=pi, now=LATER + timedelta(minutes=1))
    content = study_content(study, pi, PINNED)
    assert content.since.endswith("Since then: 1 trial corrected, 1 trial marked invalid.")


def test_the_link_to_this_view_holds_moment_and_version_and_shows_it_again(study, won, pi, browser_of) -> None:
    client = browser_of(pi)
    page = json.loads(shown(client, study.slug, "?conditions=nominal"))
    link = _find_link(page)
    filters = parse_filters(link)
    assert filters.until is not None and filters.conditions == ("nominal",)
    trial_correct(trial=won, outcome=LOST, reason="it fell", version=1, actor=pi, now=filters.until + timedelta(1))
    again = shown(client, study.slug, link)
    assert "The data changed" not in again
    assert "1 trial corrected" in again and "See now" in again
    assert study_content(study, pi, filters).data_version == filters.data_version


def _find_link(part) -> str:
    """Address of the link to this view among a page's components."""
    if isinstance(part, dict):
        if part.get("children") == "Link to this view":
            return part["href"]
        part = list(part.values())
    return next((found for one in part if (found := _find_link(one))), "") if isinstance(part, list) else ""


def test_the_trials_behind_a_number_of_then_are_those_of_then(study, won, pi, browser_of) -> None:
    corrected(won, pi)
    client, line = browser_of(pi), study_content(study, pi, PINNED).stages[0]
    page = client.get(line.hrefs[-1])  # those that were placed
    assert page.context["page"].paginator.count == round(line.reached[-1] * line.trials)
    listed = {trial.pk: trial for trial in page.context["page"].object_list}
    assert (listed[won.pk].is_success, listed[won.pk].furthest_stage) == (True, "placed")
    assert "As of 2026-09-30 10:00 UTC" in page.content.decode()


def test_the_list_as_csv_and_over_rest_is_of_the_same_moment(study, won, pi, browser_of) -> None:
    corrected(won, pi)
    client, when = browser_of(pi), {"until": UNTIL.isoformat(), "outcome": "success"}
    text = b"".join(client.get(f"/studies/{study.slug}/trials.csv", when).streaming_content).decode()
    row = next(row for row in csv.DictReader(text.splitlines()) if row["trial"] == str(won.pk))
    assert (row["outcome"], row["furthest_stage"]) == ("success", "placed")
    assert row["confirmed_at"] == (UNTIL - timedelta(seconds=1)).isoformat()
    found = client.get(f"/api/studies/{study.slug}/trials/", when | {"limit": 500}).json()["results"]
    assert next(one for one in found if one["id"] == str(won.pk))["is_success"] is True


def test_an_arm_withdrawn_later_is_not_withdrawn_yet(study, pi) -> None:
    study.arms.filter(label="policy GG").update(withdrawn_at=LATER)
    assert "withdrawn" not in study_content(study, pi, PINNED).rows[0].detail
    assert "withdrawn 2026-09-30" in study_content(study, pi, Filters()).rows[0].detail


def test_the_papers_table_says_of_which_moment_it_is(study, pi, browser_of) -> None:
    get = browser_of(pi).get
    tex = b"".join(get(f"/results/{study.slug}/table.tex", {"until": UNTIL.isoformat()}).streaming_content)
    assert b"as of 2026-09-30 10:00 UTC" in tex
    assert b"as of" not in b"".join(get(f"/results/{study.slug}/table.tex").streaming_content)
