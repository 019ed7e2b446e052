"""The auto-operator, with an agent that reports at once."""

from datetime import timedelta

import pytest
from django.utils import timezone

from labapp.cells.models import Agent
from labapp.studies import automatic
from labapp.studies.automatic import AutoOperatorError, Patience, auto_operate
from labapp.studies.models import Trial
from labapp.studies.trials import trial_propose
from tests.labapp.studies.conftest import PROPOSAL

SOON = Patience(agent_s=0.3, report_s=0.3, poll_s=0.01)
GOOD = {"success": True, "furthest_stage": "placed", "failure_mode": "", "time_s": 5.0, "invalid_reason": ""}
BROKEN = GOOD | {"success": False, "furthest_stage": "", "invalid_reason": "The policy server stopped answering."}


@pytest.fixture
def agent_reports(monkeypatch):
    """``agent_reports(GOOD, BROKEN, ...)``: what the agent says of the next trials, the last for ever."""

    def reports(*proposals: dict) -> None:
        waiting = list(proposals)

        def run(trial: Trial) -> None:
            proposal = waiting.pop(0) if len(waiting) > 1 else waiting[0]
            trial_propose(trial_id=trial.pk, proposal=proposal, now=timezone.now(), duration_s=5.0)

        monkeypatch.setattr(automatic, "trial_dispatch", run)

    return reports


def test_it_runs_every_slot_and_marks_what_it_confirms(lab, agent_reports):
    agent_reports(GOOD, PROPOSAL)
    seen = []
    tally = auto_operate(lab.study, on_progress=lambda t: seen.append(t.confirmed), patience=SOON)
    assert (tally.wanted, tally.confirmed, tally.successes) == (12, 12, 1)
    assert seen == list(range(1, 13))
    assert lab.study.trials.filter(status=Trial.Status.CONFIRMED, is_automatic=True).count() == 12
    assert lab.study.trials.filter(failure_mode="dropped").count() == 11


def test_it_stops_after_the_number_asked_for_and_goes_on_later(lab, agent_reports):
    agent_reports(GOOD)
    auto_operate(lab.study, slots=5, patience=SOON)
    assert lab.study.trials.count() == 5
    assert auto_operate(lab.study, patience=SOON).confirmed == 7


def test_what_the_agent_could_not_run_is_invalid_and_repeated(lab, agent_reports):
    agent_reports(BROKEN, GOOD)
    tally = auto_operate(lab.study, patience=SOON)
    assert (tally.confirmed, tally.invalid) == (12, 1)
    invalid = lab.study.trials.get(status=Trial.Status.INVALID)
    assert "policy server" in invalid.invalid_reason and invalid.slot.rescheduled_as.trials.count() == 1


def test_it_does_not_burn_through_a_study_when_everything_fails(lab, agent_reports):
    agent_reports(BROKEN)
    with pytest.raises(AutoOperatorError, match="in a row"):
        auto_operate(lab.study, patience=SOON)
    assert lab.study.trials.count() == automatic.MAX_INVALID_IN_A_ROW


def test_without_an_agent_it_says_so(lab, agent_reports):
    agent_reports(GOOD)
    Agent.objects.update(last_seen_at=timezone.now() - timedelta(minutes=5))
    with pytest.raises(AutoOperatorError, match="No agent connected"):
        auto_operate(lab.study, patience=SOON)
    assert lab.study.trials.count() == 0


def test_a_trial_that_is_never_reported_is_said_and_taken_up_later(lab, agent_reports, monkeypatch):
    monkeypatch.setattr(automatic, "trial_dispatch", lambda trial: None)
    with pytest.raises(AutoOperatorError, match="not reported"):
        auto_operate(lab.study, patience=SOON)
    trial = lab.study.trials.get()
    trial_propose(trial_id=trial.pk, proposal=GOOD, now=timezone.now(), duration_s=5.0)
    agent_reports(GOOD)
    assert auto_operate(lab.study, patience=SOON).confirmed == 12


def test_a_persons_trial_is_left_to_them(lab, agent_reports):
    agent_reports(GOOD)
    lab.proposed()
    with pytest.raises(AutoOperatorError, match="started by an operator"):
        auto_operate(lab.study, patience=SOON)
