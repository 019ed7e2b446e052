"""Checkpoints down and trials up, against a lab that fails, answers twice, or forgets."""

import hashlib
import json

import httpx
import pytest

from robots.agent.checkpoints import CheckpointCache, CheckpointError
from robots.agent.lab import LabClient, UploadRefusedError
from robots.agent.protocol import CheckpointRef, Proposal
from robots.agent.spool import Spool
from robots.agent.uploader import Uploader
from tests.robots.agent.conftest import make_order


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class FakeLab:
    """Keeps what is sent; `failures` answers come first."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.reports: list[dict] = []
        self.completed: list[dict] = []
        self.failures: list[int] = []
        self.checkpoint = {"model.safetensors": b"weights", "checkpoint.json": b"{}"}
        self.calls: list[str] = []

    def client(self) -> LabClient:
        return LabClient("http://lab.test", "token", transport=httpx.MockTransport(self.answer))

    def answer(self, request: httpx.Request) -> httpx.Response:
        assert request.headers["Authorization"] == "Agent token"
        path = request.url.path
        self.calls.append(f"{request.method} {path}")
        if self.failures:
            return httpx.Response(self.failures.pop(0))
        if path.startswith("/c/"):
            return self.answer_checkpoint(path)
        if path.endswith("/report/"):
            self.reports.append(json.loads(request.content))
        elif path.endswith("/episode/") and request.method == "GET":
            return httpx.Response(200, json={"files": {name: sha(data) for name, data in self.files.items()}})
        elif path.endswith("/episode/"):
            self.completed.append(json.loads(request.content))
        else:
            data = request.read()
            assert request.headers["X-Content-SHA256"] == sha(data)
            self.files[path.split("/episode/")[1]] = data
        return httpx.Response(204)

    def answer_checkpoint(self, path: str) -> httpx.Response:
        if path != "/c/":
            return httpx.Response(200, content=self.checkpoint[path.removeprefix("/c/")])
        files = [{"name": n, "sha256": sha(d), "url": f"/c/{n}"} for n, d in self.checkpoint.items()]
        return httpx.Response(200, json={"sha256": "0" * 64, "files": files})


@pytest.fixture
def lab() -> FakeLab:
    return FakeLab()


@pytest.fixture
def spool(tmp_path) -> Spool:
    return Spool(tmp_path / "spool")


@pytest.fixture
def trial(spool):
    trial = spool.open(make_order())
    trial.log("started")
    video = trial.episode / "videos" / "observation.images.head" / "chunk-000" / "file-000.mp4"
    video.parent.mkdir(parents=True)
    video.write_bytes(b"mp4")
    (trial.episode / "meta").mkdir()
    (trial.episode / "meta" / "info.json").write_text("{}")
    (trial.episode / "meta" / ".lock").write_text("")
    trial.finish(Proposal(success=True, furthest_stage="placed", time_s=3.0))
    return trial


async def test_a_trial_is_delivered_whole_and_then_forgotten(lab, spool, trial):
    assert await Uploader(spool, lab.client()).deliver_waiting()
    assert lab.reports[0]["proposal"]["success"] is True and len(lab.reports[0]["events"]) == 1
    assert set(lab.files) == {"videos/observation.images.head/chunk-000/file-000.mp4", "meta/info.json"}
    assert lab.completed[0]["videos"] == {"head": "videos/observation.images.head/chunk-000/file-000.mp4"}
    assert spool.waiting() == []


async def test_after_an_outage_only_what_is_missing_is_sent(lab, spool, trial):
    uploader = Uploader(spool, lab.client())
    lab.failures = [503]
    assert not await uploader.deliver_waiting()
    assert await uploader.deliver_waiting()
    assert len(lab.reports) == 1 and len(lab.completed) == 1


async def test_a_report_that_arrived_is_not_sent_again_when_the_recording_fails(lab, spool, trial):
    client = lab.client()
    uploader = Uploader(spool, client)
    client.report(trial)
    uploader._reported.add(trial.trial)
    lab.failures = [500, 500]
    assert not await uploader.deliver_waiting()
    assert not await uploader.deliver_waiting()
    assert await uploader.deliver_waiting()
    assert len(lab.reports) == 1


async def test_reports_go_before_recordings(lab, spool, trial):
    second = spool.open(make_order())
    second.finish(Proposal())
    await Uploader(spool, lab.client()).deliver_waiting()
    reports = [index for index, call in enumerate(lab.calls) if call.endswith("/report/")]
    assert reports == [0, 1]


async def test_what_the_lab_refuses_for_good_is_set_aside(lab, spool, trial):
    lab.failures = [404]
    assert await Uploader(spool, lab.client()).deliver_waiting()
    assert spool.waiting() == [] and lab.reports == []


def test_a_refusal_says_why(lab, trial):
    lab.failures = [400]
    with pytest.raises(UploadRefusedError, match="400 from /api/agent"):
        lab.client().report(trial)


def test_a_checkpoint_is_downloaded_once(lab, tmp_path):
    cache = CheckpointCache(tmp_path, lab.client())
    folder = cache.folder(CheckpointRef("0" * 64, "/c/"))
    assert (folder / "model.safetensors").read_bytes() == b"weights"
    calls = len(lab.calls)
    assert cache.folder(CheckpointRef("0" * 64, "/c/")) == folder and len(lab.calls) == calls


def test_a_damaged_checkpoint_is_not_kept(lab, tmp_path):
    original = lab.answer_checkpoint
    lab.answer_checkpoint = lambda path: httpx.Response(200, content=b"noise") if path != "/c/" else original(path)
    with pytest.raises(CheckpointError, match="damaged"):
        CheckpointCache(tmp_path, lab.client()).folder(CheckpointRef("0" * 64, "/c/"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["../evil", "a/b", ".hidden", ""])
def test_a_checkpoint_file_stays_in_its_folder(lab, tmp_path, name):
    lab.checkpoint = {name: b"x"}
    with pytest.raises(CheckpointError, match="plain file name"):
        CheckpointCache(tmp_path, lab.client()).folder(CheckpointRef("0" * 64, "/c/"))


def test_the_oldest_checkpoints_make_room(lab, tmp_path):
    cache = CheckpointCache(tmp_path, lab.client(), keep=1)
    cache._manifest = lambda ref: [{"name": "model", "sha256": sha(b"weights"), "url": "/c/model.safetensors"}]
    first = cache.folder(CheckpointRef("1" * 64, "/c/"))
    second = cache.folder(CheckpointRef("2" * 64, "/c/"))
    assert not first.exists() and second.exists()
