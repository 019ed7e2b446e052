"""After the lock: only amendments, each with its reason, old and new values kept."""

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from labapp.studies import amendments, services
from labapp.studies.deviations import study_deviations
from labapp.studies.models import Condition, PolicyArm, Study, TrialSlot
from labapp.studies.selectors import slots_open
from tests.labapp.studies.design.conftest import NOW

pytestmark = pytest.mark.django_db


@pytest.fixture
def by(researcher):
    return {"reason": "The belt stops late", "actor": researcher, "now": NOW}


LOCKED = "is locked: change it by an amendment"


@pytest.mark.parametrize("change", ["time_limit_s", "seed", "analysis_plan", "object_names", "design_sha256"])
def test_a_locked_study_refuses_a_quiet_change(study, change):
    value = {"time_limit_s": 5, "seed": 9, "analysis_plan": {"alpha": 0.1}, "object_names": ["box"]}.get(change, "f")
    with pytest.raises(IntegrityError, match=LOCKED), transaction.atomic():
        Study.objects.filter(pk=study.pk).update(**{change: value})


def test_a_locked_study_never_becomes_a_draft_again(study):
    with pytest.raises(IntegrityError, match=LOCKED), transaction.atomic():
        Study.objects.filter(pk=study.pk).update(status="draft")


@pytest.mark.parametrize(
    "change",
    [
        lambda s: Condition.objects.filter(study=s, slug="nominal").update(trials_per_arm=3),
        lambda s: Condition.objects.filter(study=s, slug="nominal").update(light="red"),
        lambda s: PolicyArm.objects.filter(study=s).update(checkpoint=None),
        lambda s: TrialSlot.objects.filter(study=s, position=1).update(seed=1),
        lambda s: TrialSlot.objects.filter(study=s, position=1).delete(),
        lambda s: s.slots.all().delete(),
    ],
    ids=["trials", "light", "checkpoint", "slot", "deleted slot", "no slots"],
)
def test_the_parts_of_a_locked_design_refuse_a_quiet_change(study, change):
    with pytest.raises(IntegrityError, match=LOCKED), transaction.atomic():
        change(study)


def test_the_design_service_refuses_a_locked_study(study):
    from labapp.studies.design.plan import AnalysisPlan
    from labapp.studies.design.services import Design, design_update

    design = Design(study.name, study.cell, "", 5.0, 1, [], [], [], AnalysisPlan())
    with pytest.raises(ValidationError, match="by an amendment"):
        design_update(study=study, design=design)


def test_what_is_no_design_still_changes(study, pi):
    services.study_finish(study=study, actor=pi, reason="enough", now=NOW)
    study.refresh_from_db()
    study.question = "A clearer question"
    study.save()


def test_a_time_limit_is_amended_with_old_and_new_value(study, by):
    event = amendments.time_limit_amend(study=study, time_limit_s=20.0, **by)
    study.refresh_from_db()
    assert study.time_limit_s == 20.0
    assert event.payload["changes"] == [{"what": "time limit [s]", "old": 12.0, "new": 20.0}]
    assert event.payload["sha256"] != study.design_sha256


def test_an_amendment_opens_the_design_for_itself_only(study, by):
    amendments.time_limit_amend(study=study, time_limit_s=20.0, **by)
    with pytest.raises(IntegrityError, match=LOCKED), transaction.atomic():
        Study.objects.filter(pk=study.pk).update(time_limit_s=30)


def test_the_locked_hash_is_found_again_from_the_rows(study):
    assert amendments.current_sha256(study) == study.design_sha256


def test_added_trials_are_new_seeded_blocks_after_the_planned_ones(study, by):
    before = list(study.slots.values_list("position", "seed"))
    event = amendments.trials_add(study=study, extra={"nominal": 2, "red-light": 1}, **by)
    added = study.slots.filter(block__gt=50)
    assert list(study.slots.filter(block__lte=50).values_list("position", "seed")) == before
    assert sorted(set(added.values_list("block", flat=True))) == [51, 52, 53]
    assert list(added.values_list("position", flat=True)) == list(range(251, 266))
    assert study.conditions.get(slug="nominal").trials_per_arm == 26
    assert event.payload["changes"][0] == {"what": "trials per arm, Nominal", "old": 24, "new": 26}
    assert event.payload["slots"] == 15
    second = amendments.trials_add(study=study, extra={"nominal": 1}, **by)
    assert second.payload["seed"] != event.payload["seed"]


def test_added_trials_leave_out_a_withdrawn_arm(study, by):
    arm = study.arms.first()
    amendments.arm_amend_withdrawn(study=study, arm=arm, **by)
    amendments.trials_add(study=study, extra={"nominal": 1}, **by)
    codes = set(study.slots.filter(block=51).values_list("arm__code", flat=True))
    assert len(codes) == 4 and arm.code not in codes


def test_an_arm_withdrawn_mid_study_is_skipped_and_stands_among_the_deviations(study, by):
    arm = study.arms.first()
    amendments.arm_amend_withdrawn(study=study, arm=arm, **by)
    assert slots_open(study).filter(arm=arm).count() == 0
    (deviation,) = study_deviations(study)
    assert deviation.changes == ((f"arm {arm.code}", "in the study", "withdrawn"),)
    with pytest.raises(ValidationError, match="withdrawn already"):
        amendments.arm_amend_withdrawn(study=study, arm=arm, **by)


def test_the_last_arm_stays(study, by):
    *others, last = study.arms.all()
    for arm in others:
        amendments.arm_amend_withdrawn(study=study, arm=arm, **by)
    with pytest.raises(ValidationError, match="last arm"):
        amendments.arm_amend_withdrawn(study=study, arm=last, **by)


@pytest.mark.parametrize(
    ("amend", "field"),
    [
        (lambda s, by: amendments.time_limit_amend(study=s, time_limit_s=20, **by | {"reason": " "}), "reason"),
        (lambda s, by: amendments.trials_add(study=s, extra={"nominal": 1}, **by | {"reason": ""}), "reason"),
        (lambda s, by: amendments.deviation_note(study=s, **by | {"reason": ""}), "reason"),
        (lambda s, by: amendments.time_limit_amend(study=s, time_limit_s=-1, **by), "time_limit_s"),
        (lambda s, by: amendments.time_limit_amend(study=s, time_limit_s=12, **by), "time_limit_s"),
        (lambda s, by: amendments.trials_add(study=s, extra={"nominal": 0}, **by), "extra"),
        (lambda s, by: amendments.trials_add(study=s, extra={"nominal": -1}, **by), "extra"),
        (lambda s, by: amendments.trials_add(study=s, extra={"moonlight": 1}, **by), "extra"),
        (lambda s, by: amendments.trials_add(study=s, extra={"nominal": 10**20}, **by), "extra"),
    ],
)
def test_an_impossible_amendment_names_its_field_and_records_nothing(study, by, amend, field):
    with pytest.raises(ValidationError) as error:
        amend(study, by)
    assert field in error.value.message_dict
    assert study.events.filter(kind="amended").count() == 0


def test_a_draft_is_designed_not_amended(draft, by):
    with pytest.raises(ValidationError, match="a draft: change its design"):
        amendments.time_limit_amend(study=draft, time_limit_s=20, **by)
    with pytest.raises(ValidationError, match="draft"):
        amendments.deviation_note(study=draft, **by)


def test_deviations_are_told_in_order(study, by, pi):
    amendments.deviation_note(study=study, **by | {"reason": "Lamp exchanged"})
    amendments.time_limit_amend(study=study, time_limit_s=20.0, **by)
    services.study_unblind(study=study, actor=pi, reason="A scare", now=NOW)
    services.study_finish(study=study, actor=pi, reason="Out of time", now=NOW)
    assert [d.title for d in study_deviations(study)] == [
        "noted",
        "amended",
        "unblinded before the study was finished",
        "finished with 250 planned trials not run",
    ]
    assert "time limit [s] from 12 to 20: The belt stops late" in str(study_deviations(study)[1])


def test_the_page_takes_an_amendment_and_says_what_is_missing(study, researcher, browser_of):
    client = browser_of(researcher)
    refused = client.post(f"/studies/{study.slug}/amend/time-limit/", {"time-limit-time_limit_s": "15"})
    assert refused.status_code == 422
    sent = {"time-limit-time_limit_s": "15", "time-limit-reason": "Slower arms"}
    client.post(f"/studies/{study.slug}/amend/time-limit/", sent)
    more = {"trials-extra_nominal": "1", "trials-reason": "One was lost"}
    client.post(f"/studies/{study.slug}/amend/trials/", more)
    page = client.get(f"/studies/{study.slug}/design/").content.decode()
    assert "Slower arms" in page and "<s>12</s> → 15" in page and "<s>24</s> → 25" in page
    assert "Slower arms" in client.get(f"/studies/{study.slug}/").content.decode()
