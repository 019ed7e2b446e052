"""An agent against the real web server in its own process: what a cut connection does to a trial, and a whole study."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from channels.db import database_sync_to_async as in_thread
from django.utils import timezone

from labapp import storage
from labapp.cells.agents import agent_create, agent_for, stop_cell
from labapp.live.models import TrialEvent
from labapp.media.models import Media
from labapp.policies.models import Checkpoint
from labapp.studies import services as studies
from labapp.studies.automatic import Patience, auto_operate
from labapp.studies.browser.timeline import trial_events
from labapp.studies.dispatch import trial_dispatch
from labapp.studies.models import Study, Trial, TrialVideo
from labapp.studies.presets import ConditionPreset
from labapp.studies.recording import Recording
from labapp.studies.series import trial_series
from labapp.studies.trials import trial_start
from robots.agent.agent import Agent, AgentOptions
from robots.agent.policy import PolicyPool
from tests.integration.web_server import ROOT, WAIT_S, wait_until
from tests.labapp import builders
from tests.robots.agent.conftest import FAKE_POLICY, StagedRig, ToyRig


class Cable:
    """A network cable that can be pulled: a TCP relay in front of the web server."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._open: set[asyncio.StreamWriter] = set()
        self._is_plugged = True

    async def start(self) -> str:
        self._server = await asyncio.start_server(self._relay, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def pull(self) -> None:
        self._is_plugged = False
        for writer in self._open:
            writer.transport.abort()

    def plug_in(self) -> None:
        self._is_plugged = True

    async def stop(self) -> None:
        self.pull()
        self._server.close()
        await self._server.wait_closed()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self._is_plugged:
            writer.transport.abort()
            return
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._target)
        self._open |= {writer, far_writer}
        if not self._is_plugged:  # pulled while it was being laid
            writer.transport.abort()
            far_writer.transport.abort()
        await asyncio.gather(pump(reader, far_writer), pump(far_reader, writer))
        self._open -= {writer, far_writer}


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def eventually(is_true: Callable[[], Any]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not await in_thread(is_true)():
        assert time.monotonic() < deadline, "waited in vain"
        await asyncio.sleep(0.05)


def toy_study(tmp_path: Path) -> tuple[Study, str]:
    """A locked study whose checkpoints are in the store, and the token of its cell's agent."""
    folder = tmp_path / "weights"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"weights")
    checkpoints = [builders.checkpoint(name) for name in ("first", "second")]
    for checkpoint in checkpoints:
        storage.put_folder(folder, checkpoint.prefix)
    return locked_study(builders.cell(), checkpoints)


def locked_study(cell: Any, checkpoints: list[Checkpoint]) -> tuple[Study, str]:
    pi = builders.user("pi")
    study = studies.study_create(
        name="Over the wire",
        cell=cell,
        checkpoints=checkpoints,
        actor=pi,
        seed=1,
        conditions=[ConditionPreset("nominal", "Nominal", 2, is_shifted=False)],
        time_limit_s=3.0,
    )
    study = studies.study_lock(study=study, actor=pi, now=timezone.now())
    _, token = agent_create(cell=cell, name="agent")
    return study, token


@asynccontextmanager
async def running_agent(url: str, token: str, rig: ToyRig, tmp_path: Path) -> AsyncIterator[Agent]:
    def command(folder: Path, path: Path) -> list[str]:
        return [sys.executable, str(FAKE_POLICY), str(folder), str(path)]

    agent = Agent(
        AgentOptions(url, token, tmp_path / "agent"), rig, PolicyPool(tmp_path / "policy.log", command=command)
    )
    task = asyncio.create_task(agent.run())
    try:
        yield agent
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def start_trial(study: Study) -> Trial:
    agent = agent_for(study.cell, timezone.now())
    trial = trial_start(trial_id=uuid4(), study=study, operator=None, agent=agent, now=timezone.now())
    trial_dispatch(trial)
    return trial


async def test_after_a_cut_in_the_trial_outcome_and_video_arrive_once(
    web_port, closed_connections, tmp_path, monkeypatch
):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    study, token = await in_thread(toy_study)(tmp_path)
    cable = Cable(web_port)
    url = await cable.start()
    loop = asyncio.get_running_loop()
    rig = StagedRig(length=60)
    rig.on_step = lambda tick: loop.call_soon_threadsafe(cable.pull) if tick == 20 else time.sleep(0.002)
    async with running_agent(url, token, rig, tmp_path) as agent:
        await eventually(lambda: agent_for(study.cell, timezone.now()))
        trial = await in_thread(start_trial)(study)
        await eventually((agent._spool._trials / str(trial.pk) / "proposal.json").exists)
        assert rig.ticks == 60  # the robot did not notice
        found = await Trial.objects.aget(pk=trial.pk)
        assert found.status == Trial.Status.RUNNING and found.proposal is None

        cable.plug_in()
        await eventually(lambda: TrialVideo.objects.filter(trial=trial).exists())
        await eventually(lambda: not agent._spool.names())
        await agent.link.drop()  # a reconnection announces the trial again: nothing is run or sent twice
        await eventually(lambda: agent.link.is_up)

    found = await Trial.objects.aget(pk=trial.pk)
    assert found.status == Trial.Status.PROPOSED and found.proposal["success"] is True
    assert await TrialVideo.objects.filter(trial=trial).acount() == 1
    assert await Media.objects.acount() == 1
    sequences = [event.sequence async for event in TrialEvent.objects.filter(trial=trial)]
    assert sequences == list(range(1, len(sequences) + 1)) and len(sequences) == 8
    assert len(rig.commands) == 60
    assert await in_thread(stages_of)(found) == [("approach", 0.0), ("contact", 0.2), ("lift", 0.4), ("placed", 1.2)]
    assert not any(event["kind"] == "stage" for event in await in_thread(trial_events)(found)), "told before the score"
    series = await in_thread(lambda: trial_series(Recording(found)))()
    assert series["names"] == ["a", "b", "c"] and len(series["state"][0]) == 60
    await cable.stop()


def stages_of(trial: Trial) -> list[tuple[str, float]]:
    return [(event.payload["stage"], event.time_s) for event in trial.agent_events.filter(kind="stage")]


@pytest.mark.slow
async def test_a_person_stops_the_robot_in_a_trial(web_port, closed_connections, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    study, token = await in_thread(toy_study)(tmp_path)
    rig = ToyRig(length=10_000)
    rig.on_step = lambda tick: time.sleep(0.005)
    async with running_agent(f"http://127.0.0.1:{web_port}", token, rig, tmp_path):
        await eventually(lambda: agent_for(study.cell, timezone.now()))
        trial = await in_thread(start_trial)(study)
        await eventually(lambda: rig.ticks > 5)
        await in_thread(stop_cell)(study.cell, True, "anna")
        await eventually(lambda: Trial.objects.get(pk=trial.pk).status == Trial.Status.PROPOSED)
    proposal = (await Trial.objects.aget(pk=trial.pk)).proposal
    assert proposal["invalid_reason"] == "Software stop pressed by anna."


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    """A policy of the bench cell that was trained for a moment: it moves, it does not pick."""
    environ = os.environ | {"OMP_NUM_THREADS": "1", "MUJOCO_GL": os.environ.get("MUJOCO_GL", "egl")}
    record = {"n": 1, "bench_seed": 3, "image_size": 32, "camera_fps": 12.5, "workers": 1}
    train = {
        "components": [{"path": str(tmp_path / "demos" / "episodes")}],
        "steps": 2,
        "image_size": 32,
        "batch_size": 4,
    }
    for room, name, config in (("robots", "record", record), ("training", "train", train)):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(config))
        out = tmp_path / ("demos" if name == "record" else "trained")
        command = [sys.executable, "-m", room, name, str(path), str(out), "--events"]
        subprocess.run(command, cwd=ROOT, env=environ, check=True, capture_output=True, timeout=100)
    return tmp_path / "trained" / "final"


@contextmanager
def bench_agent(url: str, token: str, tmp_path: Path) -> Iterator[None]:
    """The agent as it is started on a robot PC, with a bench cell."""
    command = [sys.executable, "-m", "robots", "agent", "--lab", url, "--token", token, "--bench-seed", "3"]
    command += ["--pace", "fast", "--image-size", "32", "--state-dir", str(tmp_path / "agent")]
    environ = os.environ | {"MUJOCO_GL": os.environ.get("MUJOCO_GL", "egl"), "OMP_NUM_THREADS": "1"}
    with (tmp_path / "agent.log").open("w") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=log, stderr=log)
        try:
            yield
        finally:
            process.terminate()
            assert process.wait(timeout=20) == 0, (tmp_path / "agent.log").read_text()


@pytest.mark.slow
def test_the_auto_operator_runs_a_study_on_the_bench_cell(web_port, trained, tmp_path):
    stored = storage.put_folder(trained, "checkpoints/moment/final")
    checkpoint = builders.checkpoint("moment")
    Checkpoint.objects.filter(pk=checkpoint.pk).update(prefix=stored.prefix, sha256=stored.sha256)
    study, token = locked_study(builders.cell(), [Checkpoint.objects.get(pk=checkpoint.pk)])
    with bench_agent(f"http://127.0.0.1:{web_port}", token, tmp_path):
        tally = auto_operate(study, patience=Patience(agent_s=40, report_s=60))
        wait_until(lambda: TrialVideo.objects.count() == 6)
    assert tally.confirmed == 2 and tally.invalid == 0
    for trial in study.trials.all():
        assert trial.status == Trial.Status.CONFIRMED and trial.is_automatic
        assert trial.latency_ms > 0 and trial.duration_s == 3.0
        assert stages_of(trial)[0] == ("approach", 0.0)
        assert trial.slot.object.name in {"box", "can"}
        assert set(trial.videos.values_list("camera", flat=True)) == {"head", "right_wrist", "left_wrist"}
