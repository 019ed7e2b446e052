"""What the timeline shows, also when the robot's clock jumps; and where two trials can be aligned."""

import pytest
from django.utils import timezone

from labapp.studies.browser.timeline import shared_events, trial_events
from labapp.studies.trials import trial_undo
from tests.labapp.studies.browser.conftest import happened


def test_events_come_in_the_agents_count_even_when_its_clock_jumps(lab):
    trial = lab.confirmed()
    happened(trial, ("started", 0.0, {}), ("stage", 5.0, {"stage": "contact"}), ("stage", 1.0, {"stage": "lift"}))
    found = trial_events(trial)
    assert [(e["label"], e["is_out_of_order"]) for e in found] == [
        ("started", False), ("contact", False), ("lift", True),
    ]  # fmt: skip


@pytest.mark.parametrize("status", ["start", "proposed"])
@pytest.mark.parametrize("role", ["operator", "researcher", "pi"])
def test_stages_wait_until_the_trial_is_scored(lab, record, status, role):
    trial = record(getattr(lab, status)())
    happened(trial, ("accepted", 0.0, {}), ("started", 0.0, {}), ("stage", 0.1, {"stage": "strange_stage"}))
    assert [event["key"] for event in trial_events(trial)] == ["started"]
    for path in ("", "series/"):
        assert "strange" not in lab.client(role).get(trial.get_absolute_url() + path).content.decode()


def test_once_scored_the_page_shows_also_stages_that_this_lab_does_not_know(lab, record):
    trial = record(lab.confirmed())
    happened(trial, ("started", 0.0, {}), ("stage", 0.1, {"stage": "strange_stage"}), ("stage", 0.2, {}))
    page = lab.client("operator").get(trial.get_absolute_url()).content.decode()
    assert "reached strange stage" in page and '"key": "stage:strange_stage"' in page


def test_an_undone_score_hides_the_stages_again(lab):
    trial = lab.confirmed()
    happened(trial, ("started", 0.0, {}), ("stage", 0.1, {"stage": "lift"}))
    assert len(trial_events(trial)) == 2
    undone = trial_undo(trial=trial, version=trial.version, actor=lab.operator, now=timezone.now())
    assert len(trial_events(undone)) == 1


def test_two_trials_share_the_events_that_both_have(lab):
    trials = [lab.confirmed(), lab.confirmed()]
    happened(trials[0], ("started", 0, {}), ("stage", 1.0, {"stage": "lift"}), ("finished", 4.0, {}))
    happened(trials[1], ("started", 0, {}), ("stage", 2.5, {"stage": "lift"}), ("stage", 3.0, {"stage": "lift"}))
    shared = shared_events(*(trial_events(trial) for trial in trials))
    assert shared == [{"key": "stage:lift", "label": "lift", "a_s": 1.0, "b_s": 2.5}]
