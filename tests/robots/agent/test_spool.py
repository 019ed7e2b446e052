import pytest

from robots.agent.protocol import Proposal
from robots.agent.spool import RESTARTED, Spool
from tests.robots.agent.conftest import make_order


@pytest.fixture
def spool(tmp_path) -> Spool:
    return Spool(tmp_path / "spool")


def test_an_order_is_known_from_the_moment_it_is_written(spool, tmp_path):
    order = make_order()
    assert not spool.knows(order.trial)
    spool.open(order)
    assert Spool(tmp_path / "spool").knows(order.trial)


def test_a_trials_name_that_is_no_uuid_becomes_no_folder(spool):
    with pytest.raises(ValueError, match="UUID"):
        spool.open(make_order(trial="../../etc"))


def test_events_are_numbered_without_gaps_across_a_restart(spool, tmp_path):
    trial = spool.open(make_order())
    trial.log("accepted")
    again = Spool(tmp_path / "spool")._all()[0]
    again.log("started", 0.5)
    assert [event.sequence for event in again.events] == [1, 2]
    assert len({event.event for event in again.events}) == 2


def test_a_line_cut_by_a_power_failure_is_left_out(spool):
    trial = spool.open(make_order())
    trial.log("accepted")
    with (trial.folder / "events.jsonl").open("a") as file:
        file.write('{"trial": "x", "eve')
    assert [event.kind for event in trial.events] == ["accepted"]


def test_a_finished_trial_waits_until_it_is_delivered_and_stays_known(spool):
    trial = spool.open(make_order())
    assert spool.waiting() == []
    trial.finish(Proposal(success=True, furthest_stage="placed"))
    assert [t.trial for t in spool.waiting()] == [trial.trial]
    spool.delivered(trial)
    assert spool.waiting() == [] and spool.knows(trial.trial)


def test_a_trial_cut_by_a_restart_is_proposed_as_invalid(spool, tmp_path):
    trial = spool.open(make_order())
    trial.log("started")
    restarted = Spool(tmp_path / "spool")
    assert [t.trial for t in restarted.recover()] == [trial.trial]
    assert trial.proposal.invalid_reason == RESTARTED
    assert trial.events[-1].kind == "failed"
    assert restarted.recover() == []


def test_a_trial_the_lab_refuses_is_set_aside_with_the_reason(spool):
    trial = spool.open(make_order())
    trial.finish(Proposal())
    spool.set_aside(trial, "404: no such trial")
    assert spool.waiting() == [] and spool.knows(trial.trial)
    assert "404" in next(spool._refused.rglob("refused.txt")).read_text()
