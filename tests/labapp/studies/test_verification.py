"""The locked hash is found again from the rows, through all amendments; whatever was changed past the lab is told."""

import json
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from labapp.cells.models import CellObject
from labapp.policies.models import Checkpoint
from labapp.studies import amendments
from labapp.studies.deviations import study_deviations
from labapp.studies.models import Condition, PolicyArm, Study, StudyEvent, Trial, TrialSlot
from labapp.studies.verification import study_verify
from tests.labapp.studies.conftest import Lab

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def amend(lab: Lab) -> None:
    common = {"actor": lab.pi, "now": timezone.now(), "reason": "The belt stops late"}
    amendments.time_limit_amend(study=lab.study, time_limit_s=20.0, **common)
    amendments.trials_add(study=lab.study, extra={"nominal": 2, "red-light": 1}, **common)
    amendments.deviation_note(study=lab.study, **common)
    arm = lab.study.arms.first()
    amendments.arm_amend_withdrawn(study=lab.study, arm=arm, **common)
    amendments.time_limit_amend(study=lab.study, time_limit_s=8.0, **common)


def past_the_triggers(sql: str, *values: object) -> None:
    """What somebody does who owns the database and switches its triggers off."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(sql, values)
        cursor.execute("SET LOCAL session_replication_role = origin")


def test_a_locked_design_is_intact_and_its_hash_found_again(lab):
    found = study_verify(Study.objects.get(pk=lab.study.pk))
    assert found.is_intact and [h.found for h in found.hashes] == [lab.study.design_sha256]


def test_every_hash_is_found_again_through_amendments_and_trials(lab):
    lab.confirmed()
    amend(lab)
    found = study_verify(Study.objects.get(pk=lab.study.pk))
    assert [h.what for h in found.hashes] == ["locked", "amended", "amended", "amended", "amended"]
    assert found.is_intact and len({h.found for h in found.hashes}) == 4  # the note changes nothing


def test_a_clock_that_jumped_between_amendments_changes_no_hash_and_no_order(lab):
    amend(lab)
    for number, event in enumerate(lab.study.events.order_by("pk")):
        StudyEvent.objects.filter(pk=event.pk).update(created_at=NOON - timedelta(hours=number))
    assert study_verify(Study.objects.get(pk=lab.study.pk)).is_intact
    assert [d.changes[0][2] for d in study_deviations(lab.study) if d.changes] == ["20", "6", "withdrawn", "8"]


def test_an_object_that_the_cell_gets_later_changes_nothing(lab):
    size = {"shape": "box", "size_m": [0.05, 0.05, 0.06], "mass_kg": 0.1}
    CellObject.objects.create(cell=lab.study.cell, name="tin", label="tin", **size)
    assert study_verify(Study.objects.get(pk=lab.study.pk)).is_intact


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE studies_trialslot SET seed = seed + 1 WHERE study_id = %s AND position = 1",
        "UPDATE studies_study SET seed = 99 WHERE id = %s",
        "UPDATE studies_study SET analysis_plan = '{\"alpha\": 0.2}' WHERE id = %s",
        "UPDATE studies_condition SET light = 'white' WHERE study_id = %s",
    ],
)
def test_a_change_past_the_triggers_is_found(lab, sql):
    past_the_triggers(sql, lab.study.pk)
    found = study_verify(Study.objects.get(pk=lab.study.pk))
    assert not found.is_intact and "do not trust its results" in str(found)


def test_another_checkpoint_behind_an_arm_is_found(lab):
    Checkpoint.objects.filter(arms__study=lab.study).update(sha256="f" * 64)
    assert not study_verify(lab.study).is_intact


def test_a_trial_moved_to_another_arm_is_found(lab):
    trial = lab.confirmed()
    Trial.objects.filter(pk=trial.pk).update(arm=lab.study.arms.exclude(pk=trial.arm_id).get())
    found = study_verify(lab.study)
    assert found.strayed_trials == 1 and "another arm or condition than their slot" in str(found)


@pytest.mark.parametrize(
    "add",
    [
        lambda s: PolicyArm.objects.create(study=s, code="X9", label="late"),
        lambda s: Condition.objects.create(study=s, slug="late", label="Late"),
        lambda s: TrialSlot.objects.create(**slot_like(s.slots.first())),
    ],
    ids=["arm", "condition", "slot"],
)
def test_nothing_is_added_to_a_locked_design_quietly(lab, add):
    with pytest.raises(IntegrityError, match="change it by an amendment"), transaction.atomic():
        add(lab.study)


def slot_like(slot: TrialSlot) -> dict:
    same = ("study", "block", "arm", "condition", "object", "belt_speed", "bin", "seed")
    return {name: getattr(slot, name) for name in same} | {"position": 9999}


def verify(*arguments: str) -> tuple[str, int]:
    out, status = StringIO(), 0
    try:
        call_command("verify_study", *arguments, stdout=out)
    except SystemExit as end:
        status = end.code
    return out.getvalue(), status


def test_the_command_says_what_it_found_and_ends_with_its_status(lab):
    text, status = verify(lab.study.slug)
    assert (status, "is the recorded one" in text) == (0, True)
    assert json.loads(verify("--json")[0])[0]["is_intact"] is True
    past_the_triggers("UPDATE studies_study SET seed = 99 WHERE id = %s", lab.study.pk)
    text, status = verify()
    assert (status, "do not trust" in text) == (1, True)
    with pytest.raises(CommandError, match="no locked study"):
        verify("nothing")


def test_research_reads_the_verification_over_rest(lab):
    url = f"/api/studies/{lab.study.slug}/verification/"
    answer = lab.client("researcher").get(url).json()
    assert answer["is_intact"] is True and answer["hashes"][0]["recorded"] == lab.study.design_sha256
    assert lab.client("operator").get(url).status_code == 403


def test_the_design_page_says_that_the_hash_was_found_again_or_not(lab):
    url = f"/studies/{lab.study.slug}/design/"
    assert "Taken again from the rows just now" in lab.client("pi").get(url).content.decode()
    past_the_triggers("UPDATE studies_study SET seed = 99 WHERE id = %s", lab.study.pk)
    assert "do not trust its results" in lab.client("pi").get(url).content.decode()
