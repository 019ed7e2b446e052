"""Sessions of a study never overlap, and no clock but the server's decides about order."""

from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from labapp.studies import services
from labapp.studies.models import OperatorSession, Trial
from labapp.studies.sessions import CHECKLIST, session_end
from labapp.studies.trials import trial_confirm, trial_invalidate
from tests.labapp import builders
from tests.labapp.studies.conftest import CONDITIONS, SUCCESS


def begin(client: Client, lab, device=None, **body):
    whole = {"device_id": str(device or uuid4()), "checklist": dict.fromkeys(CHECKLIST, True)}
    return client.post(f"/api/studies/{lab.study.slug}/session/", whole | body, content_type="application/json")


def start(client: Client, lab, **body):
    whole = {"id": str(uuid4())} | body
    return client.post(f"/api/studies/{lab.study.slug}/trials/", whole, content_type="application/json")


def test_a_second_device_is_told_who_holds_the_session(lab):
    begin(lab.client("operator"), lab)
    own, other = begin(lab.client("operator"), lab), begin(lab.client("researcher"), lab)
    assert own.status_code == other.status_code == 409
    assert own.json()["detail"].startswith("You hold the session of this study on another device since")
    assert f"{lab.operator} holds the session" in other.json()["detail"] and OperatorSession.objects.count() == 1


def test_taking_over_ends_the_other_session(lab):
    first = begin(lab.client("operator"), lab).json()["id"]
    second = begin(lab.client("researcher"), lab, take_over=True)
    assert second.status_code == 201
    old, new = OperatorSession.objects.get(pk=first), OperatorSession.objects.get(pk=second.json()["id"])
    assert old.ended_at is not None and old.ended_at <= new.started_at and new.ended_at is None


def test_the_device_that_lost_its_session_starts_nothing_more(lab):
    session = begin(lab.client("operator"), lab).json()["id"]
    begin(lab.client("researcher"), lab, take_over=True)
    answer = start(lab.client("operator"), lab, session=session)
    assert answer.status_code == 409 and "Your session was ended" in answer.json()["detail"]
    assert Trial.objects.count() == 0


def test_taking_over_asks_for_the_checklist_too(lab):
    begin(lab.client("operator"), lab)
    answer = begin(lab.client("researcher"), lab, take_over=True, checklist={})
    assert answer.status_code == 400 and OperatorSession.objects.get().ended_at is None


def test_once_ended_a_session_makes_room(lab):
    client = lab.client("operator")
    begin(client, lab)
    url = f"/api/studies/{lab.study.slug}/session/"
    assert client.delete(url, {"device_id": str(uuid4())}, content_type="application/json").status_code == 204
    assert begin(lab.client("researcher"), lab).status_code == 201


def test_the_console_says_who_is_at_the_rig(lab):
    begin(lab.client("operator"), lab)
    state = lab.client("pi").get(f"/api/studies/{lab.study.slug}/console/").json()
    assert state["session"]["operator"] == lab.operator.username


def test_the_database_itself_holds_one_open_session(lab):
    OperatorSession.objects.create(study=lab.study, operator=lab.operator)
    with pytest.raises(IntegrityError, match="one_open_session_per_study"), transaction.atomic():
        OperatorSession.objects.create(study=lab.study, operator=lab.researcher)


def test_a_clock_that_was_set_back_ends_a_session_at_its_start(lab):
    session = OperatorSession.objects.create(study=lab.study, operator=lab.operator)
    assert session_end(study=lab.study, operator=lab.operator, now=timezone.now() - timedelta(hours=1)) == 1
    session.refresh_from_db()
    assert session.ended_at == session.started_at


def test_times_that_a_client_sends_are_not_believed(lab):
    before = timezone.now()
    trial_id = start(lab.client("operator"), lab, started_at="1999-01-01T00:00:00Z").json()["id"]
    trial = Trial.objects.get(pk=trial_id)
    assert before <= trial.started_at <= timezone.now()
    body = {"is_success": True, "furthest_stage": "placed", "version": 1, "confirmed_at": "2099-01-01T00:00:00Z"}
    lab.client("operator").post(f"/api/trials/{trial.pk}/confirm/", body, content_type="application/json")
    trial.refresh_from_db()
    assert before <= trial.confirmed_at <= timezone.now()


def second_study(lab):
    """Another locked study at the same cell."""
    checkpoints = [builders.checkpoint("third"), builders.checkpoint("fourth")]
    common = {"cell": lab.study.cell, "checkpoints": checkpoints, "actor": lab.pi, "conditions": CONDITIONS}
    study = services.study_create(name="Second study", seed=1, **common)
    return replace(lab, study=services.study_lock(study=study, actor=lab.pi, now=timezone.now()))


def test_two_studies_at_one_cell_have_one_session_between_them(lab):
    other = second_study(lab)
    begin(lab.client("operator"), lab)
    answer = begin(lab.client("researcher"), other)
    assert answer.status_code == 409
    assert f"{lab.operator} holds the session of “Blinded study” at this cell" in answer.json()["detail"]
    assert begin(lab.client("researcher"), other, take_over=True).status_code == 201
    assert list(OperatorSession.objects.filter(ended_at=None).values_list("study", flat=True)) == [other.study.pk]


def test_a_robot_that_runs_a_trial_of_one_study_starts_none_of_another(lab):
    other = second_study(lab)
    trial = lab.start()
    answer = start(lab.client("operator"), other)
    assert answer.status_code == 409 and "of “Blinded study” is running at this cell" in answer.json()["detail"]
    trial_invalidate(trial=trial, reason="stopped", version=1, actor=lab.operator, now=timezone.now())
    assert start(lab.client("operator"), other).status_code == 201


@pytest.mark.parametrize("jump", [timedelta(hours=-2), timedelta(days=400)])
def test_a_clock_that_jumps_during_a_trial_changes_neither_its_order_nor_its_duration(lab, jump):
    first = lab.proposed()
    later = timezone.now() + jump
    trial_confirm(trial=first, outcome=SUCCESS, version=first.version, actor=lab.operator, now=later)
    second = lab.start(now=later)
    first.refresh_from_db()
    assert (first.slot.position, second.slot.position) == (1, 2)
    assert first.duration_s == 6.0, "the robot's own stopwatch, not a difference of times of day"


def test_a_session_left_open_over_night_holds_nobody_up(lab):
    session = begin(lab.client("operator"), lab).json()["id"]
    began = timezone.now() - timedelta(hours=15)
    OperatorSession.objects.filter(pk=session).update(started_at=began)
    state = lab.client("operator").get(f"/api/studies/{lab.study.slug}/console/").json()
    assert state["session"] is None
    assert start(lab.client("operator"), lab, session=session).status_code == 409
    assert begin(lab.client("researcher"), lab).status_code == 201
    assert OperatorSession.objects.get(pk=session).ended_at == began + timedelta(hours=8)


def test_a_session_that_lasted_too_long_begins_with_the_checklist_again(lab):
    device = uuid4()
    session = begin(lab.client("operator"), lab, device).json()["id"]
    OperatorSession.objects.filter(pk=session).update(started_at=timezone.now() - timedelta(hours=9))
    assert begin(lab.client("operator"), lab, device, checklist={}).status_code == 400
    assert begin(lab.client("operator"), lab, device).json()["id"] != session


def test_a_device_finds_its_session_again(lab):
    device = uuid4()
    session = begin(lab.client("operator"), lab, device).json()["id"]
    state = lab.client("operator").get(f"/api/studies/{lab.study.slug}/console/").json()
    assert state["session"] | {"started_at": None} == {
        "id": session, "operator": str(lab.operator), "device_id": str(device), "started_at": None,
    }  # fmt: skip
    assert state["user"] == str(lab.operator)
