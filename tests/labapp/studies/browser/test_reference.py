"""Which picture lies over the live camera before a trial, and the picture of the empty rig."""

import io
from uuid import uuid4

import pytest
from django.test import Client
from PIL import Image

from labapp.studies.browser.models import RigPicture
from labapp.studies.models import OperatorSession, Trial
from labapp.studies.sessions import CHECKLIST


def picture(kind: str = "JPEG", size: tuple[int, int] = (64, 64)) -> io.BytesIO:
    file = io.BytesIO()
    Image.new("RGB", size, (90, 120, 60)).save(file, kind)
    file.seek(0)
    file.name = f"rig.{kind.lower()}"
    return file


def reference(lab, role: str = "operator") -> dict:
    return lab.client(role).get(f"/api/studies/{lab.study.slug}/reference/").json()


def send(lab, session: OperatorSession, file: io.BytesIO, role: str = "operator"):
    return lab.client(role).post(f"/api/sessions/{session.pk}/rig-picture/", {"picture": file})


@pytest.fixture
def session(lab) -> OperatorSession:
    body = {"device_id": str(uuid4()), "checklist": dict.fromkeys(CHECKLIST, True)}
    lab.client("operator").post(f"/api/studies/{lab.study.slug}/session/", body, content_type="application/json")
    return OperatorSession.objects.get()


def until_paired(lab) -> Trial:
    """Score trials until the next one begins as one before it did."""
    while True:
        trial = lab.confirmed()
        following = lab.study.slots.filter(trials=None).order_by("block", "position").first()
        if (following.block, following.seed) == (trial.slot.block, trial.slot.seed):
            return trial


def test_without_any_picture_there_is_none(lab):
    assert reference(lab) == {"slot": lab.study.slots.first().pk, "reference": None, "rig": None}


def test_the_paired_trials_video_is_the_reference(lab, record):
    trial = record(until_paired(lab))
    found = reference(lab)["reference"]
    assert found["kind"] == "trial" and found["words"].startswith(f"Trial {trial.slot.position}:")
    assert found["url"] == trial.videos.get(camera="head").media.get_absolute_url()
    assert trial.arm.label not in str(reference(lab))


def test_another_starting_state_is_no_reference(lab, record):
    trial = record(until_paired(lab))
    lab.confirmed()
    following = lab.study.slots.filter(trials=None).order_by("block", "position").first()
    assert following.seed != trial.slot.seed and reference(lab)["reference"] is None


def test_the_rig_pictured_at_the_start_of_a_session_stands_in_and_shows_drift(lab, session):
    made = send(lab, session, picture())
    assert made.status_code == 201
    found = reference(lab)
    assert found["reference"]["kind"] == "rig" and found["rig"]["is_of_session"] is True
    assert found["rig"]["url"] == made.json()["url"]
    assert lab.client("pi").get(found["rig"]["url"])["Content-Type"] == "image/jpeg"


def test_a_new_session_is_held_against_the_studys_first_picture(lab, session):
    send(lab, session, picture())
    lab.client("operator").delete(
        f"/api/studies/{lab.study.slug}/session/", {"device_id": str(uuid4())}, content_type="application/json"
    )
    assert reference(lab)["rig"]["is_of_session"] is False


def test_only_the_sessions_operator_pictures_it_and_only_before_its_first_trial(lab, session):
    assert send(lab, session, picture(), role="researcher").status_code == 403
    lab.start(session=session)
    answer = send(lab, session, picture())
    assert answer.status_code == 400 and "before the first trial" in str(answer.json())
    assert RigPicture.objects.count() == 0


def test_a_session_that_is_over_takes_no_picture(lab, session):
    OperatorSession.objects.update(ended_at=session.started_at)
    assert "is over" in str(send(lab, session, picture()).json())


@pytest.mark.parametrize(("file", "words"), [(picture("GIF"), "JPEG or PNG"), (io.BytesIO(b"no picture"), "image")])
def test_what_is_no_picture_is_refused(lab, session, file, words):
    file.name = "rig.jpg"
    answer = send(lab, session, file)
    assert answer.status_code == 400 and words in str(answer.json()["picture"])


def test_strangers_get_no_reference(lab):
    assert Client().get(f"/api/studies/{lab.study.slug}/reference/").status_code in (401, 403)
