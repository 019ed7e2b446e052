"""From counts to content: designs, groups, effects, stages and edge cases."""

import pytest
from django.utils import timezone

from frontend.dashboards.filters import Filters
from labapp.results.access import current_viewer
from labapp.results.queries import DatabaseQueries, study_content
from labapp.results.reading import summary_groups, table_groups
from labapp.studies.arms import Arm
from labapp.studies.factors import find_design
from labapp.studies.models import Condition, PolicyArm, Study, Trial
from labapp.studies.trials import Outcome, trial_correct
from tests.labapp.results.conftest import add_trials


def arm(number: int, **factors: str) -> Arm:
    return Arm(number, f"K{number}", f"arm {number}", "", factors)


def condition(pk: int, is_shifted: bool) -> Condition:
    return Condition(pk=pk, slug=f"c{pk}", label=f"C{pk}", is_shifted=is_shifted)


def test_a_design_is_found_among_arms_with_a_baseline() -> None:
    arms = [arm(1, world="grounded", behavior="ungrounded"), arm(2, world="ungrounded", behavior="grounded"), arm(3)]
    design = find_design(arms)
    assert design.names == ("world", "behavior")
    assert design.levels == (("ungrounded", "grounded"), ("ungrounded", "grounded"))
    assert [[a.id for a in cell] for cell in design.cells] == [[], [1], [2], []]


def test_imported_factors_form_a_design_too() -> None:
    arms = [arm(i, method=m, category=c) for i, (m, c) in enumerate([("cgvd", "x"), ("baseline", "y")])]
    assert find_design(arms).levels == (("baseline", "cgvd"), ("x", "y"))


def test_a_partly_grounded_world_stays_outside_the_design() -> None:
    arms = [
        arm(1, world="grounded", behavior="grounded"),
        arm(2, world="ungrounded", behavior="ungrounded"),
        arm(3, world="partly grounded", behavior="grounded"),
    ]
    assert [len(cell) for cell in find_design(arms).cells] == [1, 0, 0, 1]


@pytest.mark.parametrize("arms", [[], [arm(1)], [arm(1, world="grounded")], [arm(1, a="x", b="y", c="z")]])
def test_other_arms_form_no_design(arms: list[Arm]) -> None:
    assert find_design(arms) is None


def test_groups_say_nominal_and_shifted_only_where_both_are() -> None:
    both = [condition(1, False), condition(2, True), condition(3, True)]
    assert [g.label for g in summary_groups(both)] == ["all", "nominal", "shifted"]
    assert [g.label for g in table_groups(both)] == ["C1", "C2", "C3", "All shifted", "All"]
    assert [g.label for g in summary_groups(both[:1])] == ["all"]
    assert [g.label for g in table_groups(both[:1])] == ["C1"]


def test_an_arm_without_trials_shows_no_trials_and_no_bounds(study: Study, pi) -> None:
    study.arms.get(label="policy UU").trials.all().delete()
    content = study_content(study, pi, Filters())
    empty = next(row for row in content.rows if row.arm == "policy UU")
    assert [(cell.trials, cell.rate, cell.low) for cell in empty.cells] == [(0, None, None)] * 3
    assert content.effects == ()


def test_a_condition_that_an_arm_skipped_is_left_out_of_effects_and_named(study: Study, pi) -> None:
    study.arms.get(label="policy UU").trials.filter(condition__slug="red-light").delete()
    content = study_content(study, pi, Filters())
    assert any("leave out red-light" in note for note in content.notes)
    assert {line.point.group for line in content.effects} == {"all", "nominal"}


def test_rows_stand_in_the_order_of_the_design(study: Study, pi) -> None:
    names = [row.arm for row in study_content(study, pi, Filters()).rows]
    assert names == ["policy GG", "policy GU", "policy UG", "policy UU", "policy real-only"]


def test_without_names_rows_stand_in_the_order_of_their_codes(study: Study, researcher) -> None:
    content = study_content(study, researcher, Filters())
    codes = [row.arm for row in content.rows]
    assert codes == sorted(codes)
    assert content.effects == ()
    assert "stay hidden" in content.effects_missing


def test_invalid_and_unscored_trials_are_counted_apart(study: Study, pi) -> None:
    arm = PolicyArm.objects.get(label="policy GG")
    nominal = study.conditions.get(slug="nominal")
    add_trials(arm, nominal, 2, 2, status=Trial.Status.INVALID, invalid_reason="belt stopped")
    add_trials(arm, nominal, 0, 3, status=Trial.Status.PROPOSED)
    content = study_content(study, pi, Filters())
    assert (content.counts.confirmed, content.counts.waiting, content.counts.invalid) == (250, 3, 2)
    assert content.rows[0].cells[-1].trials == 50


def test_stages_failures_and_times_end_where_the_rate_says(study: Study, pi) -> None:
    content = study_content(study, pi, Filters())
    assert content.stages[0].reached[-1] == pytest.approx(0.86)
    assert content.modes[0].modes == {"dropped": 7}
    assert content.times[0].share[-1] == pytest.approx(0.86)
    assert content.times[0].share[0] == 0


def test_the_version_changes_with_the_numbers_and_only_then(study: Study, pi) -> None:
    before = study_content(study, pi, Filters()).data_version
    trial = study.trials.filter(is_success=True).first()
    trial.note = "the lid was loose"
    trial.save()
    assert study_content(study, pi, Filters()).data_version == before
    trial.is_success, trial.failure_mode, trial.furthest_stage = False, "drift", "carry"
    trial.save()
    assert study_content(study, pi, Filters()).data_version != before


def test_two_corrections_that_leave_every_count_alone_are_a_new_version(study: Study, pi) -> None:
    """One success for one failure of the same arm and condition: rates stay, pairs and times need not."""
    arm, condition = study.arms.get(label="policy GG"), study.conditions.get(slug="nominal")
    trials = study.trials.filter(arm=arm, condition=condition)
    before = study_content(study, pi, Filters())
    failed, won = trials.filter(is_success=False)[0], trials.filter(is_success=True)[0]
    lost = Outcome(is_success=False, furthest_stage="lift", failure_mode="dropped")
    change = {"reason": "taken for each other", "version": 1, "actor": pi, "now": timezone.now()}
    trial_correct(trial=failed, outcome=Outcome(is_success=True, furthest_stage="placed"), **change)
    trial_correct(trial=won, outcome=lost, **change)
    after = study_content(study, pi, Filters())
    assert after.rows == before.rows and after.data_version != before.data_version
    viewer = current_viewer.set(pi)
    assert DatabaseQueries().data_version(study.slug, Filters()) == after.data_version
    current_viewer.reset(viewer)


def test_the_page_costs_the_same_queries_whatever_the_trials(study: Study, pi, django_assert_num_queries) -> None:
    # arms, conditions, events, two aggregates over the trials; whether it was, is or can be evaluated in simulation
    with django_assert_num_queries(8):
        study_content(study, pi, Filters())
