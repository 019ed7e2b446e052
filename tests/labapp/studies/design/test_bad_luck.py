"""A study that does not go as planned still gives a table, effects and words: withdrawn arm, unequal n, empty cells."""

from uuid import uuid4

import pytest

from frontend.dashboards.filters import Filters
from labapp.results.queries import study_content
from labapp.studies import amendments, services, trials
from labapp.studies.models import Study
from labapp.studies.selectors import slot_next
from tests.labapp.studies.design.conftest import NOW

pytestmark = pytest.mark.django_db
SUCCESS = trials.Outcome(is_success=True, furthest_stage="placed")
DROPPED = trials.Outcome(is_success=False, furthest_stage="carry", failure_mode="dropped")


def run(study: Study, actor, count: int) -> None:
    for number in range(count):
        trial = trials.trial_start(trial_id=uuid4(), study=study, operator=actor, now=NOW)
        outcome = DROPPED if number % 3 == 0 else SUCCESS
        trials.trial_confirm(trial=trial, outcome=outcome, version=1, actor=actor, now=NOW)


@pytest.fixture
def cut_short(study, pi, operator) -> Study:
    """Two blocks with all arms, then the arm with both grounded is withdrawn, then two blocks without it."""
    run(study, operator, 10)
    arm = study.arms.get(label="gg")
    amendments.arm_amend_withdrawn(study=study, arm=arm, reason="It hits the belt", actor=pi, now=NOW)
    run(study, operator, 8)
    services.study_finish(study=study, actor=pi, reason="The week is over", now=NOW)
    services.study_unblind(study=study, actor=pi, reason="", now=NOW)
    study.refresh_from_db()
    return study


def test_an_arm_withdrawn_mid_study_keeps_its_trials_and_gets_no_more(cut_short):
    counts = {arm.label: arm.trials.count() for arm in cut_short.arms.all()}
    assert counts == {"gg": 2, "gu": 4, "ug": 4, "uu": 4, "real-only": 4}
    assert slot_next(cut_short).arm.label != "gg"


def test_unequal_n_still_has_rates_and_deviations_in_words(cut_short, pi):
    content = study_content(cut_short, pi, Filters())
    totals = {row.arm: row.cells[-1].trials for row in content.rows}
    assert totals["gg"] == 2 and totals["uu"] == 4
    assert any("arm withdrawn" in note and "It hits the belt" in note for note in content.notes)
    assert any("planned trials not run" in note and "The week is over" in note for note in content.notes)


def test_conditions_without_trials_are_empty_cells_and_left_out_of_effects(cut_short, pi):
    content = study_content(cut_short, pi, Filters())
    empty = [cell for row in content.rows for cell in row.cells if cell.trials == 0]
    assert empty and all((cell.rate, cell.low, cell.high) == (None, None, None) for cell in empty)
    for line in content.effects:
        assert line.point.low <= line.point.points <= line.point.high


def test_an_arm_withdrawn_before_any_trial_leaves_a_cell_of_0_of_0(study, pi, operator):
    arm = study.arms.get(label="gg")
    amendments.arm_amend_withdrawn(study=study, arm=arm, reason="Its gripper slips", actor=pi, now=NOW)
    run(study, operator, 8)
    services.study_finish(study=study, actor=pi, reason="enough", now=NOW)
    services.study_unblind(study=study, actor=pi, reason="", now=NOW)
    study.refresh_from_db()
    content = study_content(study, pi, Filters())
    assert content.effects == ()
    assert any("a cell of the design has no trials" in note for note in content.notes)
    assert next(row.cells[-1] for row in content.rows if row.arm == "gg").rate is None


def test_early_unblinding_marks_the_results_and_the_report_with_name_and_reason(study, pi, operator, browser_of):
    run(study, operator, 10)
    services.study_unblind(study=study, actor=pi, reason="The funder asks", now=NOW)
    study.refresh_from_db()
    assert any("before the study finished" in note for note in study_content(study, pi, Filters()).notes)
    report = b"".join(browser_of(pi).get(f"/results/{study.slug}/report.html").streaming_content).decode()
    assert "unblinded before the study was finished" in report.casefold()
    assert "The funder asks" in report and pi.username in report and study.design_sha256 in report
