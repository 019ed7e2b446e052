"""The console's API: start, score, undo, correct, invalidate; what is sent again is one row; who may do it."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from labapp.cells.models import Agent
from labapp.studies.models import OperatorSession, Trial, TrialRevision
from labapp.studies.sessions import CHECKLIST

SUCCESS = {"is_success": True, "furthest_stage": "placed"}
DROPPED = {"is_success": False, "furthest_stage": "carry", "failure_mode": "dropped", "note": "slipped"}


def post(client: Client, url: str, body: dict | None = None):
    return client.post(url, body or {}, content_type="application/json")


def state(client: Client, lab) -> dict:
    return client.get(f"/api/studies/{lab.study.slug}/console/").json()


@pytest.fixture
def operator(lab) -> Client:
    return lab.client("operator")


def start(operator: Client, lab, **body):
    return post(operator, f"/api/studies/{lab.study.slug}/trials/", {"id": str(uuid4())} | body)


def test_the_console_shows_the_next_trial_by_its_code(operator, lab):
    shown = state(operator, lab)
    slot = lab.study.slots.first()
    assert shown["next"]["code"] == slot.arm.code and shown["next"]["position"] == 1
    assert len(shown["next"]["reset"]) == 4 and shown["trial"] is None
    assert shown["progress"]["planned"] == 12 and shown["agent"]["is_connected"] is True


@pytest.mark.parametrize("stage", ["nothing", "proposed", "confirmed"])
def test_the_state_takes_five_queries_and_two_to_know_the_person(operator, lab, django_assert_max_num_queries, stage):
    if stage != "nothing":
        getattr(lab, stage)()
    with django_assert_max_num_queries(7):
        shown = state(operator, lab)
    assert (shown["trial"] is not None, shown["last"] is not None) == (stage == "proposed", stage == "confirmed")


def test_a_start_sent_three_times_starts_once(operator, lab):
    body = {"id": str(uuid4()), "slot": lab.study.slots.first().pk}
    answers = [post(operator, f"/api/studies/{lab.study.slug}/trials/", body) for _ in range(3)]
    assert [a.status_code for a in answers] == [201, 200, 200]
    assert {a.json()["id"] for a in answers} == {body["id"]}
    trial = Trial.objects.get()
    assert trial.agent == lab.agent and trial.operator == lab.operator


def test_without_an_agent_nothing_starts(operator, lab):
    Agent.objects.update(connected_at=None)
    answer = start(operator, lab)
    assert answer.status_code == 400 and "agent" in answer.content.decode()
    assert Trial.objects.count() == 0


def test_an_agent_that_fell_silent_is_away(operator, lab):
    Agent.objects.update(last_seen_at=timezone.now() - timedelta(minutes=2))
    assert start(operator, lab).status_code == 400


def test_a_second_device_that_starts_the_same_slot_is_told(operator, lab):
    start(operator, lab)
    answer = start(lab.client("researcher"), lab)
    assert answer.status_code == 409 and "finish it first" in answer.json()["detail"]


def test_the_proposal_is_shown_only_after_the_trial(operator, lab):
    trial_id = start(operator, lab).json()["id"]
    assert state(operator, lab)["trial"]["proposal"] is None
    from labapp.studies.trials import trial_propose
    from tests.labapp.studies.conftest import PROPOSAL

    trial_propose(trial_id=trial_id, proposal=PROPOSAL | {"latency_ms": 31.0}, now=timezone.now(), duration_s=6.0)
    shown = state(operator, lab)["trial"]
    assert shown["proposal"]["failure_mode"] == "dropped" and "latency_ms" not in shown["proposal"]
    assert shown["is_success"] is None  # never a default


def test_an_outcome_sent_three_times_is_one_row_and_one_id(operator, lab):
    trial = lab.proposed()
    body = DROPPED | {"version": trial.version}
    answers = [post(operator, f"/api/trials/{trial.pk}/confirm/", body) for _ in range(3)]
    assert [a.status_code for a in answers] == [200, 200, 200]
    assert {a.json()["id"] for a in answers} == {str(trial.pk)}
    assert TrialRevision.objects.filter(trial=trial).count() == 1
    trial.refresh_from_db()
    assert trial.failure_mode == "dropped" and trial.note == "slipped" and trial.is_automatic is False


def test_two_devices_cannot_overwrite_each_other(operator, lab):
    trial = lab.proposed()
    post(operator, f"/api/trials/{trial.pk}/confirm/", SUCCESS | {"version": trial.version})
    answer = post(lab.client("researcher"), f"/api/trials/{trial.pk}/confirm/", DROPPED | {"version": trial.version})
    assert answer.status_code == 409 and "changed meanwhile" in answer.json()["detail"]
    trial.refresh_from_db()
    assert trial.is_success is True


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"is_success": True, "furthest_stage": "lift"}, "furthest_stage"),
        ({"is_success": True, "furthest_stage": "placed", "failure_mode": "dropped"}, "failure_mode"),
        ({"is_success": False, "furthest_stage": "lift"}, "failure_mode"),
        ({"is_success": False, "furthest_stage": "moon", "failure_mode": "dropped"}, "furthest_stage"),
        ({"furthest_stage": "lift"}, "is_success"),
    ],
)
def test_an_outcome_that_contradicts_itself_is_refused_by_field(operator, lab, body, field):
    trial = lab.proposed()
    answer = post(operator, f"/api/trials/{trial.pk}/confirm/", body | {"version": 1})
    assert answer.status_code == 400 and field in answer.json()


def test_a_page_of_somebody_who_is_signed_in_no_more_changes_nothing(operator, lab):
    trial = lab.proposed()
    paths = [f"trials/{trial.pk}/confirm", f"studies/{lab.study.slug}/trials", f"studies/{lab.study.slug}/session"]
    body, ann = SUCCESS | {"version": 1}, {"X-Signed-In-As": "%C3%A4nn"}
    answers = [operator.post(f"/api/{path}/", body, "application/json", headers=ann) for path in paths]
    assert [answer.status_code for answer in answers] == [412] * 3
    assert answers[0].json()["detail"].startswith(f"This is änn's page, and {lab.operator} has signed in")
    assert not TrialRevision.objects.exists() and not OperatorSession.objects.exists()
    mine = {"X-Signed-In-As": lab.operator.username}
    assert operator.post(f"/api/{paths[0]}/", body, "application/json", headers=mine).status_code == 200


def test_undo_within_ten_seconds(operator, lab):
    trial = lab.confirmed()
    last = state(operator, lab)["last"]
    assert last["id"] == str(trial.pk)
    answer = post(operator, f"/api/trials/{trial.pk}/undo/", {"version": last["version"]})
    assert answer.status_code == 200 and answer.json()["is_success"] is None
    assert state(operator, lab)["trial"]["id"] == str(trial.pk)


def test_no_undo_after_ten_seconds(operator, lab):
    trial = lab.confirmed()
    Trial.objects.update(confirmed_at=timezone.now() - timedelta(seconds=11))
    answer = post(operator, f"/api/trials/{trial.pk}/undo/", {"version": trial.version})
    assert answer.status_code == 400 and "ten seconds" in answer.content.decode()
    assert state(operator, lab)["last"] is None


def test_a_correction_keeps_the_old_value_with_the_reason(operator, lab):
    trial = lab.confirmed()
    body = DROPPED | {"version": trial.version, "reason": "looked at the video"}
    assert post(operator, f"/api/trials/{trial.pk}/correct/", body).status_code == 200
    revision = trial.revisions.last()
    assert revision.before["is_success"] is True and revision.after["failure_mode"] == "dropped"
    assert revision.reason == "looked at the video"


def test_an_invalid_trial_is_repeated_in_its_block(operator, lab):
    trial = lab.proposed()
    body = {"version": trial.version, "reason": "somebody in the cell"}
    assert post(operator, f"/api/trials/{trial.pk}/invalidate/", body).status_code == 200
    repetition = trial.slot.rescheduled_as
    assert repetition.block == trial.slot.block and repetition.seed == trial.slot.seed
    assert Trial.objects.filter(pk=trial.pk).exists()


def test_invalid_needs_a_reason(operator, lab):
    trial = lab.proposed()
    answer = post(operator, f"/api/trials/{trial.pk}/invalidate/", {"version": trial.version, "reason": "  "})
    assert answer.status_code == 400 and "reason" in answer.json()


def test_a_session_needs_the_whole_checklist(operator, lab):
    device = str(uuid4())
    url = f"/api/studies/{lab.study.slug}/session/"
    answer = post(operator, url, {"device_id": device, "checklist": {"bins": True}})
    assert answer.status_code == 400 and "Belt clear" in str(answer.json()["checklist"])
    whole = {"device_id": device, "checklist": dict.fromkeys(CHECKLIST, True)}
    first, again = post(operator, url, whole).json(), post(operator, url, whole).json()
    assert first["id"] == again["id"] and OperatorSession.objects.count() == 1
    trial = start(operator, lab, session=first["id"])
    assert Trial.objects.get(pk=trial.json()["id"]).session_id == first["id"]


@pytest.mark.parametrize("path", ["lock", "finish", "unblind"])
def test_operators_do_not_change_studies(operator, lab, path):
    assert post(operator, f"/api/studies/{lab.study.slug}/{path}/", {"reason": "x"}).status_code == 403


def test_only_the_pi_unblinds(lab):
    url = f"/api/studies/{lab.study.slug}/unblind/"
    assert post(lab.client("researcher"), url, {"reason": "curious"}).status_code == 403
    answer = post(lab.client("pi"), url, {"reason": "interim look"})
    assert answer.status_code == 200 and answer.json()["arms"][0]["policy"]
    event = lab.study.events.get(kind="unblinded")
    assert event.actor == lab.pi and event.reason == "interim look" and event.payload["is_early"] is True


def test_early_unblinding_needs_a_reason(lab):
    assert post(lab.client("pi"), f"/api/studies/{lab.study.slug}/unblind/", {"reason": " "}).status_code == 400


@pytest.mark.parametrize("path", ["studies/", "studies/x/", "studies/x/console/", "studies/x/trials/"])
def test_strangers_get_nothing(db, path):
    assert Client().get(f"/api/{path}").status_code in (401, 403)


def test_a_study_is_made_over_the_api(lab):
    body = {
        "name": "Second study", "cell": lab.study.cell.slug, "policies": ["grounded-world-adapt"], "preset": "quick",
    }  # fmt: skip
    answer = post(lab.client("researcher"), "/api/studies/", body)
    assert answer.status_code == 201 and len(answer.json()["conditions"]) == 5
    assert post(lab.client("operator"), "/api/studies/", body).status_code == 403


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": "Blinded study"}, "name"),
        ({"policies": ["no-such"]}, "policies"),
        ({"policies": ["grounded-world-adapt"] * 2}, "checkpoints"),
        ({"cell": "no-such"}, "cell"),
        ({"time_limit_s": -1}, "time_limit_s"),
    ],
)
def test_an_impossible_study_is_refused_by_field(lab, change, field):
    body = {"name": "Other", "cell": lab.study.cell.slug, "policies": ["grounded-world-adapt"]} | change
    answer = post(lab.client("researcher"), "/api/studies/", body)
    assert answer.status_code == 400 and field in answer.json()


def test_trials_are_filtered_by_words(operator, lab):
    trial = lab.confirmed()
    url = f"/api/studies/{lab.study.slug}/trials/"
    code = trial.arm.code
    assert operator.get(url, {"arm": code, "outcome": "success"}).json()["count"] == 1
    assert operator.get(url, {"outcome": "dropped"}).json()["count"] == 0
    assert operator.get(url, {"arm": "nobody"}).status_code == 400


def test_the_stop_works_over_rest(operator, lab):
    assert post(operator, f"/api/cells/{lab.study.cell.slug}/stop/").json() == {"agents": 1}


def test_the_console_asks_the_database_little_however_long_the_study_is(operator, lab, django_assert_max_num_queries):
    for _ in range(4):
        lab.confirmed()
    with django_assert_max_num_queries(14):
        state(operator, lab)
