"""A toy cell of three joints and a policy server that holds still."""

import os
import sys
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from robots.agent.policy import PolicyPool
from robots.agent.protocol import CheckpointRef, Proposal, TrialStart
from robots.agent.rig import Observation, RigStoppedError

FAKE_POLICY = Path(__file__).with_name("fake_policy.py")
ROOT = Path(__file__).resolve().parents[3]


class ToyRig:
    """Three joints that follow at once; over after `length` ticks."""

    joint_names = ("a", "b", "c")
    robot_type = "toy"

    def __init__(self, length: int = 30, is_lockstep: bool = True) -> None:
        self.length, self.is_lockstep = length, is_lockstep
        self.ticks, self.position = 0, np.zeros(3)
        self.commands: list[np.ndarray] = []
        self.stopped = threading.Event()
        self.on_step = lambda tick: None
        self.is_closed = False

    def prepare(self, order: TrialStart, image_size: int | None) -> Observation:
        if self.stopped.is_set():
            raise RigStoppedError
        self.ticks, self.position, self.commands = 0, np.zeros(3), []
        return self.look()

    def step(self, command: np.ndarray) -> Observation:
        self.on_step(self.ticks)
        if self.stopped.is_set():
            raise RigStoppedError
        self.commands.append(command)
        self.ticks, self.position = self.ticks + 1, np.asarray(command)
        return self.look()

    def look(self) -> Observation:
        image = np.full((16, 16, 3), self.ticks % 256, np.uint8)
        return Observation(self.ticks / 50, self.position, {"head": image})

    def is_over(self) -> bool:
        return self.ticks >= self.length

    def stages(self) -> dict[str, float]:
        return {}

    def judge(self) -> Proposal:
        return Proposal(success=True, furthest_stage="placed")

    def extra(self) -> dict[str, object]:
        return {"object": "can"}

    def stop(self, pressed: bool) -> None:
        (self.stopped.set if pressed else self.stopped.clear)()

    def close(self) -> None:
        self.is_closed = True


class StagedRig(ToyRig):
    """Its referee sees a stage at given ticks."""

    def stages(self) -> dict[str, float]:
        when = {"approach": 0, "contact": 10, "lift": 20, "placed": self.length}
        return {stage: tick / 50 for stage, tick in when.items() if tick <= self.ticks}


def make_order(**values: object) -> TrialStart:
    facts: dict[str, object] = {
        "trial": str(uuid.uuid4()), "code": "K17", "checkpoint": CheckpointRef("0" * 64, "/c/"), "condition": "nominal",
        "object": "can", "belt_speed": 0.1, "bin": "left", "light": "white", "instruction": "pick up the can",
        "seed": 1, "time_limit_s": 2.0,
    }  # fmt: skip
    return TrialStart(**(facts | values))  # type: ignore[arg-type]  # facts of a test


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    return folder


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PolicyPool]:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    pool = PolicyPool(
        tmp_path / "policy.log", command=lambda folder, path: [sys.executable, str(FAKE_POLICY), str(folder), str(path)]
    )
    yield pool
    pool.close()
