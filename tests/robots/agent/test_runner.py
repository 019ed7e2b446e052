"""A trial from its order to its proposal, with a real policy process and a real recording."""

import threading

import httpx
import pytest

from robots.agent.checkpoints import CheckpointCache, CheckpointError
from robots.agent.feed import LiveFeed
from robots.agent.lab import LabClient
from robots.agent.protocol import CheckpointRef
from robots.agent.recording import video_paths
from robots.agent.runner import BROKEN, TrialRunner
from robots.agent.spool import Spool
from robots.episodes import EpisodesReader
from tests.robots.agent.conftest import ToyRig, make_order


class OneCheckpoint:
    def __init__(self, folder):
        self.path = folder

    def folder(self, ref):
        return self.path


@pytest.fixture
def rig() -> ToyRig:
    return ToyRig(length=30)


@pytest.fixture
def spool(tmp_path) -> Spool:
    return Spool(tmp_path / "spool")


@pytest.fixture
def events() -> list:
    return []


@pytest.fixture
def runner(rig, pool, checkpoint, events) -> TrialRunner:
    return TrialRunner(rig, OneCheckpoint(checkpoint), pool, LiveFeed(), events.append)


def test_a_trial_leaves_a_proposal_and_a_recording(runner, spool, events):
    trial = spool.open(make_order())
    proposal = runner.run(trial)
    assert proposal.success and proposal.latency_ms == 5.0 and proposal.time_s == 0.6
    assert [event.kind for event in events] == ["accepted", "loading", "started", "finished"]
    reader = EpisodesReader(trial.episode)
    assert len(reader) == 1 and reader.read(0).columns["action"].shape == (30, 3)
    assert reader.episodes[0].extra["outcome"] == "success"
    assert set(video_paths(trial.episode)) == {"head"}
    assert spool.waiting()[0].proposal == proposal


@pytest.mark.parametrize(
    ("behavior", "words"),
    [
        ("no start", "ended while it started"),
        ("crash", "stopped answering"),
        ("refuse", "answered with an error"),
        ("strange view", "sonar"),
    ],
)
def test_a_policy_server_that_fails_makes_an_invalid_proposal(runner, spool, checkpoint, behavior, words):
    (checkpoint / "behavior").write_text(behavior)
    proposal = runner.run(spool.open(make_order()))
    assert words in proposal.invalid_reason
    assert "secret" not in proposal.invalid_reason and str(checkpoint) not in proposal.invalid_reason


def test_after_a_crash_the_next_trial_gets_a_fresh_server(runner, spool, checkpoint):
    (checkpoint / "behavior").write_text("crash")
    assert runner.run(spool.open(make_order())).invalid_reason
    (checkpoint / "behavior").write_text("hold")
    assert runner.run(spool.open(make_order())).success


def test_a_warm_server_is_used_again(runner, spool, pool, checkpoint):
    runner.run(spool.open(make_order()))
    process = pool.server(checkpoint)._process.pid
    runner.run(spool.open(make_order()))
    assert pool.server(checkpoint)._process.pid == process


def test_only_so_many_servers_stay_warm(pool, tmp_path):
    servers = []
    for name in "abc":
        (tmp_path / name).mkdir()
        servers.append(pool.server(tmp_path / name))
    assert [server.is_running for server in servers] == [False, True, True]


def test_a_cancelled_trial_is_invalid_with_the_reason_and_keeps_its_recording(runner, rig, spool):
    trial = spool.open(make_order())
    rig.on_step = lambda tick: runner.abort("Stopped by anna.", trial.trial) if tick == 10 else None
    assert runner.run(trial).invalid_reason == "Stopped by anna."
    assert EpisodesReader(trial.episode).episodes[0].extra["outcome"] == "invalid"


def test_cancelling_another_trial_changes_nothing(runner, rig, spool):
    rig.on_step = lambda tick: runner.abort("no", "another trial")
    assert runner.run(spool.open(make_order())).success


def test_the_software_stop_ends_the_trial(runner, rig, spool):
    def press(tick: int) -> None:
        if tick == 8:
            rig.stop(True)
            runner.abort("Software stop pressed by anna.")

    rig.on_step = press
    assert runner.run(spool.open(make_order())).invalid_reason == "Software stop pressed by anna."


def test_while_stopped_no_trial_starts(runner, rig, spool):
    rig.stop(True)
    assert "stop" in runner.run(spool.open(make_order())).invalid_reason


def test_a_checkpoint_that_does_not_come_is_said(rig, pool, spool, events):
    class Missing:
        def folder(self, ref):
            raise CheckpointError("The lab does not give out the checkpoint (status 404).")

    runner = TrialRunner(rig, Missing(), pool, LiveFeed(), events.append)
    assert "404" in runner.run(spool.open(make_order())).invalid_reason


@pytest.mark.parametrize("fault", [None, httpx.ConnectError("refused")])
def test_the_log_beside_the_robot_never_shows_a_checkpoints_hash(rig, pool, spool, tmp_path, caplog, fault):
    sha256 = "c0ffee" * 10 + "beef"

    def lab(request: httpx.Request) -> httpx.Response:
        if fault is not None:
            raise fault
        return httpx.Response(503, request=request)

    client = LabClient("http://lab", "token", httpx.MockTransport(lab))
    runner = TrialRunner(rig, CheckpointCache(tmp_path / "cache", client), pool, LiveFeed(), lambda event: None)
    order = make_order(checkpoint=CheckpointRef(sha256, f"/c/{sha256}/"))
    assert "could not be reached" in runner.run(spool.open(order)).invalid_reason
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("robots")]  # httpx is kept quiet
    assert len(ours) == 1 and ours[0].startswith("checkpoint not fetched") and sha256 not in ours[0]


def test_a_defect_is_reported_and_does_not_silence_the_agent(runner, rig, spool, caplog):
    def explode(tick: int) -> None:
        raise ZeroDivisionError

    rig.on_step = explode
    assert runner.run(spool.open(make_order())).invalid_reason == BROKEN
    assert "ZeroDivisionError" in caplog.text
    rig.on_step = lambda tick: None
    assert runner.run(spool.open(make_order())).success


def test_no_trial_runs_beside_another(runner, rig, spool):
    seen = []
    rig.on_step = lambda tick: seen.append((threading.get_ident(), runner.current))
    trials = [spool.open(make_order()) for _ in range(2)]
    for trial in trials:
        runner.run(trial)
    assert [name for _, name in seen] == [trials[0].trial] * 30 + [trials[1].trial] * 30
