"""What the timeline shows, also when the robot's clock jumps; and where two trials can be aligned."""

from labapp.studies.browser.timeline import shared_events, trial_events
from tests.labapp.studies.browser.conftest import happened


def test_events_come_in_the_agents_count_even_when_its_clock_jumps(lab):
    trial = lab.proposed()
    happened(trial, ("started", 0.0, {}), ("stage", 5.0, {"stage": "contact"}), ("stage", 1.0, {"stage": "lift"}))
    found = trial_events(trial)
    assert [(e["label"], e["is_out_of_order"]) for e in found] == [
        ("started", False), ("contact", False), ("lift", True),
    ]  # fmt: skip


def test_stages_wait_until_the_trial_is_over(lab):
    trial = lab.start()
    happened(trial, ("accepted", 0.0, {}), ("started", 0.0, {}), ("stage", 1.0, {"stage": "lift"}))
    assert [event["key"] for event in trial_events(trial)] == ["started"]


def test_two_trials_share_the_events_that_both_have(lab):
    trials = [lab.confirmed(), lab.confirmed()]
    happened(trials[0], ("started", 0, {}), ("stage", 1.0, {"stage": "lift"}), ("finished", 4.0, {}))
    happened(trials[1], ("started", 0, {}), ("stage", 2.5, {"stage": "lift"}), ("stage", 3.0, {"stage": "lift"}))
    shared = shared_events(*(trial_events(trial) for trial in trials))
    assert shared == [{"key": "stage:lift", "label": "lift", "a_s": 1.0, "b_s": 2.5}]
