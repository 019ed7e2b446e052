"""Stages on the recording's clock, told off the control loop, kept with the recording."""

import threading

import pytest

from robots.agent.feed import LiveFeed
from robots.agent.runner import TrialRunner
from robots.agent.spool import Spool
from robots.agent.stages import StageLog
from robots.episodes import EpisodesReader
from tests.robots.agent.conftest import StagedRig, make_order
from tests.robots.agent.test_runner import OneCheckpoint


def test_a_stage_is_told_once_at_the_row_that_shows_it_first():
    told = []
    with StageLog(lambda *event: told.append(event)) as log:
        for seen_s in (0.0, 0.02, 0.08, 0.10):  # two ticks came late: the clock ran on, the rows did not
            log.row(seen_s)
        log.update({"approach": 0.0, "contact": 0.05})
        log.update({"approach": 0.0, "contact": 0.05})
        log.update({"approach": 0.0, "contact": 0.05, "lift": 0.10})
    assert told == [("approach", 0.0), ("contact", 0.04), ("lift", 0.06)]
    assert log.reached == {"approach": 0.0, "contact": 0.04, "lift": 0.06}


def test_a_slow_disk_does_not_hold_up_the_control_loop():
    is_free, written = threading.Event(), []

    def write(stage: str, time_s: float) -> None:
        assert is_free.wait(60)
        written.append(stage)

    with StageLog(write) as log:
        for tick in range(50):
            log.row(tick / 50)
            log.update(dict.fromkeys("abcdef"[: 1 + tick // 10], 0.0))
        assert written == [], "the loop ran to its end while the disk had written nothing"
        is_free.set()
    assert written == list("abcde")


def test_a_full_disk_costs_the_event_and_not_the_trial(caplog):
    def refuse(stage: str, time_s: float) -> None:
        raise OSError("No space left on device")

    with StageLog(refuse) as log:
        log.update({"approach": 0.0})
    assert log.reached == {"approach": 0.0} and "stage approach at 0.00 s was not written down" in caplog.text


@pytest.fixture
def events() -> list:
    return []


@pytest.fixture
def runner(pool, checkpoint, events) -> TrialRunner:
    return TrialRunner(StagedRig(length=30), OneCheckpoint(checkpoint), pool, LiveFeed(), events.append)


def test_a_trial_reports_its_stages_between_start_and_end_and_records_them(runner, events, tmp_path):
    trial = Spool(tmp_path / "spool").open(make_order())
    runner.run(trial)
    stages = [(event.payload["stage"], event.time_s) for event in events if event.kind == "stage"]
    assert stages == [("approach", 0.0), ("contact", 0.2), ("lift", 0.4), ("placed", 0.6)]
    assert [event.sequence for event in events] == list(range(1, 9)) and events[-1].kind == "finished"
    assert EpisodesReader(trial.episode).episodes[0].extra["stages"] == dict(stages)


def test_a_cancelled_trial_keeps_the_stages_that_it_reached(runner, events, tmp_path):
    trial = Spool(tmp_path / "spool").open(make_order())
    runner._rig.on_step = lambda tick: runner.abort("enough") if tick == 15 else None
    runner.run(trial)
    assert [event.kind for event in events][-3:] == ["stage", "stage", "cancelled"]
    assert EpisodesReader(trial.episode).episodes[0].extra["stages"] == {"approach": 0.0, "contact": 0.2}
