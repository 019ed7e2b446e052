"""REST of agents: what is sent twice is there once; nobody else gets in."""

import hashlib
from uuid import uuid4

import pytest
from django.test import Client

from labapp import storage
from labapp.cells.agents import agent_create, agent_token_renew
from labapp.live import uploads
from labapp.live.models import TrialEvent
from labapp.studies.models import Trial, TrialVideo
from tests.labapp import builders

PROPOSAL = {"success": False, "failure_mode": "dropped", "furthest_stage": "carry", "time_s": 6.2, "latency_ms": 31.0}
MP4 = b"\x00\x00\x00\x18ftypmp42" + bytes(500)
VIDEO = "videos/observation.images.head/chunk-000/file-000.mp4"
TABLE = "data/chunk-000/file-000.parquet"


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def agent(bench) -> Client:
    return Client(headers={"authorization": f"Agent {bench.token}"})


@pytest.fixture
def trial(start_trial) -> Trial:
    return start_trial()


def report(agent: Client, trial: Trial, **values):
    event = {
        "trial": str(trial.pk),
        "event": str(uuid4()),
        "sequence": 1,
        "kind": "started",
        "time_s": 0.0,
        "payload": {},
    }
    body = {"proposal": PROPOSAL, "events": [event]} | values
    return agent.put(f"/api/agent/trials/{trial.pk}/report/", body, content_type="application/json")


def upload(agent: Client, trial: Trial, path: str, data: bytes, digest: str | None = None):
    return agent.put(
        f"/api/agent/trials/{trial.pk}/episode/{path}",
        data,
        content_type="application/octet-stream",
        headers={"X-Content-SHA256": digest or sha(data)},
    )


def complete(agent: Client, trial: Trial, files: dict[str, bytes], videos: dict[str, str]):
    body = {"files": {path: sha(data) for path, data in files.items()}, "videos": videos}
    return agent.put(f"/api/agent/trials/{trial.pk}/episode/", body, content_type="application/json")


@pytest.mark.parametrize("role", ["operator", "researcher", "pi"])
def test_people_do_not_get_in_with_their_session(bench, browser_of, trial, role):
    answer = report(browser_of(getattr(bench, role)), trial)
    assert answer.status_code == 401


def test_a_renewed_token_ends_the_old_one(bench, agent, trial):
    agent_token_renew(agent=bench.agent)
    assert report(agent, trial).status_code == 401


def test_another_agents_trial_does_not_exist(bench, trial):
    _, token = agent_create(cell=builders.cell(), name="other")
    stranger = Client(headers={"authorization": f"Agent {token}"})
    assert report(stranger, trial).status_code == 404
    assert upload(stranger, trial, TABLE, b"x").status_code == 404


def test_a_report_sent_three_times_is_stored_once(agent, trial):
    answers = [report(agent, trial) for _ in range(3)]
    assert [a.status_code for a in answers] == [204, 204, 204]
    trial.refresh_from_db()
    assert trial.status == Trial.Status.PROPOSED
    assert trial.proposal["failure_mode"] == "dropped" and trial.latency_ms == 31.0
    assert TrialEvent.objects.filter(trial=trial).count() == 1


def test_a_later_report_does_not_change_the_first(agent, trial):
    report(agent, trial)
    report(agent, trial, proposal={"success": True, "furthest_stage": "placed", "time_s": 1.0})
    trial.refresh_from_db()
    assert trial.proposal["success"] is False


@pytest.mark.parametrize(
    ("proposal", "field"),
    [
        ({"failure_mode": "boredom"}, "failure_mode"),
        ({"success": True, "failure_mode": "dropped"}, "failure_mode"),
        ({"furthest_stage": "moon"}, "furthest_stage"),
        ({"time_s": -1}, "time_s"),
        ({"score": 3}, "score"),
    ],
)
def test_a_wrong_proposal_is_refused_by_field(agent, trial, proposal, field):
    answer = report(agent, trial, proposal=proposal)
    assert answer.status_code == 400 and field in answer.content.decode()
    trial.refresh_from_db()
    assert trial.proposal is None


def test_a_recording_sent_twice_is_one_video(agent, trial):
    files = {TABLE: b"table", VIDEO: MP4}
    for _ in range(2):
        for path, data in files.items():
            assert upload(agent, trial, path, data).status_code == 204
        assert complete(agent, trial, files, {"head": VIDEO}).status_code == 204
    video = TrialVideo.objects.get(trial=trial)
    assert video.camera == "head" and video.media.sha256 == sha(MP4)
    trial.refresh_from_db()
    assert set(storage.folder_manifest(trial.episode_prefix)) == {TABLE, VIDEO}


def test_the_lab_says_which_files_it_has(agent, trial):
    upload(agent, trial, TABLE, b"table")
    answer = agent.get(f"/api/agent/trials/{trial.pk}/episode/")
    assert answer.json()["files"] == {TABLE: sha(b"table")}


def test_a_recording_with_a_file_missing_is_not_whole(agent, trial):
    upload(agent, trial, TABLE, b"table")
    answer = complete(agent, trial, {TABLE: b"table", VIDEO: MP4}, {"head": VIDEO})
    assert answer.status_code == 400 and VIDEO in answer.content.decode()
    trial.refresh_from_db()
    assert trial.episode_prefix == ""
    assert not TrialVideo.objects.filter(trial=trial).exists()


def test_damaged_bytes_are_refused(agent, trial):
    answer = upload(agent, trial, TABLE, b"table", digest=sha(b"other"))
    assert answer.status_code == 400 and "SHA-256" in answer.content.decode()


@pytest.mark.parametrize(
    "path", ["../secret", "a/../../b", ".hidden", "a//b", "a\\b", "/etc/passwd", "x" * 300 + "/" + "y"]
)
def test_paths_stay_inside_the_recording(agent, trial, path):
    assert upload(agent, trial, path, b"x").status_code in (400, 404)
    assert not [key for key in storage.list_keys(f"trials/{trial.pk}/") if "received" not in key]


def test_a_file_over_the_limit_is_refused(agent, trial, monkeypatch):
    monkeypatch.setattr(uploads, "MAX_FILE_BYTES", 1000)
    assert upload(agent, trial, TABLE, bytes(2000)).status_code == 413


def test_a_checkpoint_is_given_out_by_its_hash_and_without_a_name(bench, agent, trial, tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    (tmp_path / "checkpoint.json").write_text("{}")
    checkpoint = trial.arm.checkpoint
    storage.put_folder(tmp_path, checkpoint.prefix)
    answer = agent.get(f"/api/agent/checkpoints/{checkpoint.sha256}/")
    files = {entry["name"]: entry for entry in answer.json()["files"]}
    assert set(files) == {"model.safetensors", "checkpoint.json"}
    assert files["model.safetensors"]["sha256"] == sha(b"weights")
    assert checkpoint.policy.name not in answer.content.decode()
    body = agent.get(files["model.safetensors"]["url"])
    assert b"".join(body.streaming_content) == b"weights"


def test_an_unknown_checkpoint_is_not_there(agent):
    assert agent.get(f"/api/agent/checkpoints/{'0' * 64}/").status_code == 404
    assert agent.get(f"/api/agent/checkpoints/{'0' * 64}/model.safetensors").status_code == 404
