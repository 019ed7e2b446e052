"""Studies and trials through their services, on a real database."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from labapp.accounts.models import Role
from labapp.studies import services, trials
from labapp.studies.models import Study, StudyEvent, Trial
from labapp.studies.presets import ConditionPreset
from labapp.studies.selectors import slot_next, slots_open, study_progress
from labapp.studies.trials import Outcome, TrialConflict
from tests.labapp import builders

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
SUCCESS = Outcome(is_success=True, furthest_stage="placed")
DROPPED = Outcome(is_success=False, furthest_stage="carry", failure_mode="dropped")
CONDITIONS = (
    ConditionPreset("nominal", "Nominal", 3, is_shifted=False),
    ConditionPreset("novel-objects", "Novel objects", 1, uses_novel_objects=True),
)


@pytest.fixture
def pi():
    return builders.user(Role.PI)


@pytest.fixture
def operator():
    return builders.user(Role.OPERATOR)


@pytest.fixture
def draft(pi) -> Study:
    checkpoints = [builders.checkpoint("real-only"), builders.checkpoint("grounded")]
    return services.study_create(
        name="First study", cell=builders.cell(), checkpoints=checkpoints, actor=pi, seed=3, conditions=CONDITIONS
    )


@pytest.fixture
def study(draft, pi) -> Study:
    return services.study_lock(study=draft, actor=pi, now=NOW)


def start(study, operator, **values) -> Trial:
    return trials.trial_start(**{"trial_id": uuid4(), "study": study, "operator": operator, "now": NOW} | values)


def test_a_locked_study_has_a_hash_a_schedule_and_an_event(study):
    assert study.status == Study.Status.LOCKED
    assert len(study.design_sha256) == 64
    assert study.slots.count() == 8
    assert study.events.get().kind == StudyEvent.Kind.LOCKED


def test_arm_codes_say_nothing_of_the_policy(study):
    assert {arm.label for arm in study.arms.all()} == {"real-only", "grounded"}
    assert all(len(arm.code) == 3 and arm.code[0].isalpha() for arm in study.arms.all())


def test_novel_conditions_use_only_novel_objects(study):
    assert {slot.object.name for slot in study.slots.filter(condition__slug="novel-objects")} == {"carton"}


def test_an_arm_without_a_checkpoint_cannot_be_locked(draft, pi):
    arm = draft.arms.first()
    arm.checkpoint = None
    arm.save()
    with pytest.raises(ValidationError, match=f"without a checkpoint.*{arm.code}"):
        services.study_lock(study=draft, actor=pi, now=NOW)
    draft.refresh_from_db()
    assert (draft.status, draft.slots.count()) == (Study.Status.DRAFT, 0)


def test_a_second_lock_is_refused(study, pi):
    with pytest.raises(ValidationError, match="locked already"):
        services.study_lock(study=study, actor=pi, now=NOW)


def test_a_trial_starts_the_next_slot_once_however_often_it_is_sent(study, operator):
    trial_id = uuid4()
    first = start(study, operator, trial_id=trial_id)
    assert start(study, operator, trial_id=trial_id) == first
    assert first.slot == study.slots.order_by("block", "position").first()
    assert study.trials.count() == 1


def test_a_second_device_cannot_start_while_a_trial_is_unfinished(study, operator):
    start(study, operator)
    with pytest.raises(TrialConflict, match="finish it first"):
        start(study, operator)


def test_an_outcome_sent_three_times_is_one_revision(study, operator):
    trial = start(study, operator)
    for _ in range(3):
        scored = trials.trial_confirm(trial=trial, outcome=DROPPED, version=1, actor=operator, now=NOW)
    assert (scored.failure_mode, scored.version) == ("dropped", 2)
    assert trial.revisions.count() == 1


def test_two_devices_cannot_overwrite_each_other(study, operator):
    trial = start(study, operator)
    trials.trial_confirm(trial=trial, outcome=DROPPED, version=1, actor=operator, now=NOW)
    with pytest.raises(TrialConflict, match="changed meanwhile"):
        trials.trial_confirm(trial=trial, outcome=SUCCESS, version=1, actor=operator, now=NOW)
    trial.refresh_from_db()
    assert trial.is_success is False


def test_a_proposal_is_stored_once_and_never_decides(study, operator):
    trial = start(study, operator)
    trials.trial_propose(trial_id=trial.pk, proposal={"is_success": True}, now=NOW, duration_s=5.0)
    again = trials.trial_propose(trial_id=trial.pk, proposal={"is_success": False}, now=NOW)
    assert again.proposal == {"is_success": True}
    assert (again.status, again.is_success) == (Trial.Status.PROPOSED, None)


def test_a_proposal_after_the_outcome_leaves_the_outcome(study, operator):
    trial = start(study, operator)
    trials.trial_confirm(trial=trial, outcome=DROPPED, version=1, actor=operator, now=NOW)
    late = trials.trial_propose(trial_id=trial.pk, proposal={"is_success": True}, now=NOW)
    assert (late.status, late.is_success, late.proposal) == (Trial.Status.CONFIRMED, False, {"is_success": True})


def test_a_score_keeps_the_end_that_the_robot_told_meanwhile(study, operator):
    shown = start(study, operator)
    trials.trial_propose(trial_id=shown.pk, proposal={"is_success": True}, now=NOW + timedelta(seconds=9))
    later = NOW + timedelta(seconds=30)
    scored = trials.trial_confirm(trial=shown, outcome=SUCCESS, version=1, actor=operator, now=later)
    assert scored.ended_at == NOW + timedelta(seconds=9)


def test_undo_works_for_ten_seconds(study, operator):
    trial = start(study, operator)
    scored = trials.trial_confirm(trial=trial, outcome=DROPPED, version=1, actor=operator, now=NOW)
    with pytest.raises(ValidationError, match="ten seconds"):
        trials.trial_undo(trial=scored, version=2, actor=operator, now=NOW + timedelta(seconds=11))
    undone = trials.trial_undo(trial=scored, version=2, actor=operator, now=NOW + timedelta(seconds=9))
    assert (undone.status, undone.is_success, undone.failure_mode) == (Trial.Status.PROPOSED, None, "")


def test_undo_is_refused_once_the_next_trial_has_begun(study, operator):
    trial = start(study, operator)
    scored = trials.trial_confirm(trial=trial, outcome=DROPPED, version=1, actor=operator, now=NOW)
    start(study, operator)
    with pytest.raises(TrialConflict, match="has begun"):
        trials.trial_undo(trial=scored, version=2, actor=operator, now=NOW)


def test_a_correction_needs_a_reason_and_keeps_the_old_outcome(study, operator):
    trial = start(study, operator)
    scored = trials.trial_confirm(trial=trial, outcome=DROPPED, version=1, actor=operator, now=NOW)
    change = {"trial": scored, "outcome": SUCCESS, "version": 2, "actor": operator, "now": NOW}
    with pytest.raises(ValidationError, match="Say why"):
        trials.trial_correct(reason=" ", **change)
    corrected = trials.trial_correct(reason="It lay in the bin after all", **change)
    revision = corrected.revisions.get(kind="corrected")
    assert corrected.is_success is True
    assert revision.before["failure_mode"] == "dropped"
    assert revision.reason == "It lay in the bin after all"


def test_an_invalid_trial_stays_and_is_repeated_in_its_block(study, operator):
    trial = start(study, operator)
    trials.trial_invalidate(trial=trial, reason="A person walked through", version=1, actor=operator, now=NOW)
    repeated = study.slots.get(reschedules=trial.slot)
    assert (repeated.block, repeated.arm, repeated.seed) == (trial.slot.block, trial.slot.arm, trial.slot.seed)
    order = [slot.pk for slot in slots_open(study)]
    assert order.index(repeated.pk) == 1
    assert study.trials.get(pk=trial.pk).status == Trial.Status.INVALID
    assert study_progress(study) == {"confirmed": 0, "invalid": 1, "unfinished": 0, "open": 8, "planned": 8}


def test_a_withdrawn_arm_is_skipped_and_recorded(study, pi):
    arm = study.arms.first()
    services.arm_withdraw(arm=arm, actor=pi, reason="It hits the belt", now=NOW)
    assert arm.code not in {slot.arm.code for slot in slots_open(study)}
    assert study.events.get(kind="arm_withdrawn").payload["arm"] == arm.code


def test_early_unblinding_needs_a_reason_and_is_marked(study, pi):
    with pytest.raises(ValidationError, match="unblinded early"):
        services.study_unblind(study=study, actor=pi, reason="", now=NOW)
    services.study_unblind(study=study, actor=pi, reason="Safety", now=NOW)
    event = study.events.get(kind="unblinded")
    assert (event.actor, event.payload) == (pi, {"is_early": True})


def test_finishing_with_open_slots_needs_a_reason(study, pi):
    with pytest.raises(ValidationError, match="8 planned trials were not run"):
        services.study_finish(study=study, actor=pi, now=NOW)
    assert services.study_finish(study=study, actor=pi, reason="quick part", now=NOW).status == Study.Status.FINISHED


def test_a_whole_study_runs_to_its_end(study, operator):
    while slot_next(study):
        trial = start(study, operator)
        trials.trial_confirm(trial=trial, outcome=SUCCESS, version=1, actor=operator, now=NOW)
    assert study_progress(study)["confirmed"] == 8
    with pytest.raises(ValidationError, match="Every planned trial"):
        start(study, operator)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"is_success": True, "furthest_stage": "carry"}, "furthest_stage"),
        ({"is_success": True, "furthest_stage": "placed", "failure_mode": "dropped"}, "failure_mode"),
        ({"is_success": False, "furthest_stage": "carry"}, "failure_mode"),
        ({"is_success": False, "furthest_stage": "moon", "failure_mode": "dropped"}, "furthest_stage"),
    ],
)
def test_a_contradicting_outcome_names_the_field(values, field):
    with pytest.raises(ValidationError) as error:
        Outcome(**values)
    assert field in error.value.message_dict


def test_the_database_refuses_a_confirmed_trial_without_an_outcome(study, operator):
    trial = start(study, operator)
    with pytest.raises(IntegrityError), transaction.atomic():
        Trial.objects.filter(pk=trial.pk).update(status=Trial.Status.CONFIRMED)
