"""Trials as of a moment, through all that can happen to one."""

from datetime import UTC, datetime, timedelta

from labapp.studies.history import as_of
from labapp.studies.importing.outcome_tables import ArmColumns, TableMapping, read_outcomes
from labapp.studies.importing.services import study_import
from labapp.studies.models import Trial
from labapp.studies.trials import (
    Outcome,
    trial_confirm,
    trial_correct,
    trial_invalidate,
    trial_propose,
    trial_start,
    trial_undo,
)
from tests.labapp.studies.conftest import PROPOSAL, SUCCESS

NOON = datetime(2026, 9, 30, 12, tzinfo=UTC)
LOST = Outcome(is_success=False, furthest_stage="lift", failure_mode="dropped", note="slipped")
ID = "0199a000-0000-7000-8000-000000000000"


def at(minute: float) -> datetime:
    return NOON + timedelta(minutes=minute)


def then(minute: float) -> tuple | None:
    """What the trial was at a minute: status, success, version, seconds; None before it began."""
    columns = ("status_then", "is_success_then", "version_then", "duration_s_then")
    return as_of(Trial.objects.filter(pk=ID), at(minute)).values_list(*columns).first()


def test_every_state_of_a_trial_is_there_again(lab) -> None:
    trial = trial_start(trial_id=ID, study=lab.study, operator=lab.operator, now=at(0))
    trial = trial_propose(trial_id=ID, proposal=PROPOSAL, now=at(1), duration_s=6.0)
    trial = trial_confirm(trial=trial, outcome=SUCCESS, version=1, actor=lab.pi, now=at(2))
    trial = trial_undo(trial=trial, version=2, actor=lab.pi, now=at(2.1))
    trial = trial_confirm(trial=trial, outcome=SUCCESS, version=3, actor=lab.pi, now=at(3))
    trial = trial_correct(trial=trial, outcome=LOST, reason="as filmed", version=4, actor=lab.pi, now=at(4))
    trial_invalidate(trial=trial, reason="the belt stood", version=5, actor=lab.pi, now=at(5))
    assert then(-1) is None
    assert then(0.5) == ("proposed", None, 1, None), "whether it was proposed yet counts for nothing"
    assert then(1.5) == ("proposed", None, 1, 6.0)
    assert then(2) == ("confirmed", True, 2, 6.0)
    assert then(2.5) == ("proposed", None, 3, 6.0)
    assert then(3.5) == ("confirmed", True, 4, 6.0)
    assert then(4.5) == ("confirmed", False, 5, 6.0)
    assert then(5) == then(60) == ("invalid", None, 6, 6.0)


def test_when_it_was_scored_and_ended_goes_with_what_it_was(lab) -> None:
    trial = trial_start(trial_id=ID, study=lab.study, operator=lab.operator, now=at(0))
    trial = trial_confirm(trial=trial, outcome=SUCCESS, version=1, actor=lab.pi, now=at(1))
    trial_correct(trial=trial, outcome=LOST, reason="as filmed", version=2, actor=lab.pi, now=at(2))
    trials = [as_of(Trial.objects.filter(pk=ID), at(minute)).get() for minute in (0.5, 1.5, 3)]
    assert [trial.confirmed_at_then for trial in trials] == [None, at(1), at(2)]
    assert [trial.ended_at_then for trial in trials] == [None, at(1), at(1)]


def test_a_note_goes_with_the_outcome_that_it_was_written_for(lab) -> None:
    trial = trial_start(trial_id=ID, study=lab.study, operator=lab.operator, now=at(0))
    trial_confirm(trial=trial, outcome=LOST, version=1, actor=lab.pi, now=at(1))
    trial_correct(trial=trial, outcome=SUCCESS, reason="seen on video", version=2, actor=lab.pi, now=at(2))
    notes = [as_of(Trial.objects.filter(pk=ID), at(m)).get().note_then for m in (1, 2)]
    assert notes == ["slipped", ""]


def test_a_clock_that_was_set_back_shows_no_trial_twice(lab) -> None:
    trial = trial_start(trial_id=ID, study=lab.study, operator=lab.operator, now=at(0))
    trial_confirm(trial=trial, outcome=SUCCESS, version=1, actor=lab.pi, now=at(10))
    for version, minute in ((2, 3), (3, 5), (4, 12)):
        trial_correct(trial=trial, outcome=LOST, reason="again", version=version, actor=lab.pi, now=at(minute))
    for minute in range(1, 14):
        assert as_of(Trial.objects.filter(pk=ID), at(minute)).count() == 1, minute
    assert then(11)[1] is False


def test_an_imported_trial_is_there_from_its_import_on_whatever_is_corrected(pi) -> None:
    rows = read_outcomes("arm,ok,day\nA,1,2020-01-01T10:00:00+00:00\n", TableMapping(
        outcomes=(ArmColumns("ok"),), arm="arm", started_at="day"))  # fmt: skip
    study = study_import(name="Old", rows=rows, actor=pi, is_simulated=False, now=at(0))
    trial = study.trials.get()
    trial_correct(trial=trial, outcome=LOST, reason="a typing error", version=1, actor=pi, now=at(10))
    told = [list(as_of(study.trials.all(), at(m)).values_list("is_success_then", flat=True)) for m in (-1, 5, 11)]
    assert told == [[], [True], [False]]
