"""Blocks of attempts on disk: one file each, whole or absent, so that a killed run resumes behind the last one."""

import json
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from generation.attempts import Trajectory
from generation.filtering import Reason
from robots.cell.initial import InitialState

ARRAYS = ("qpos", "actions", "phases")


def block_path(folder: Path, index: int) -> Path:
    """File of block `index`."""
    return folder / f"block-{index:06d}.npz"


def write_block(path: Path, trajectories: list[Trajectory]) -> None:
    """Store a block atomically."""
    facts = [
        {
            "number": t.number,
            "initial": t.initial.to_dict(),
            "reason": t.reason,
            "source": t.source,
        }
        for t in trajectories
    ]
    arrays = {f"{name}-{t.number}": getattr(t, name) for t in trajectories if t.reason is None for name in ARRAYS}
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    with partial.open("wb") as file:
        np.savez(file, facts=np.array(json.dumps(facts)), **arrays)
    partial.replace(path)


class Outcome(NamedTuple):
    """What became of one attempt; `reason` is None for an accepted one."""

    number: int
    object: str
    reason: str | None


def read_outcomes(path: Path) -> list[Outcome]:
    """Outcomes of every attempt of a block, in order."""
    with np.load(path) as stored:
        facts = json.loads(str(stored["facts"]))
    return [Outcome(fact["number"], fact["initial"]["object"], fact["reason"]) for fact in facts]


def read_trajectories(path: Path, numbers: set[int]) -> list[Trajectory]:
    """The accepted trajectories of a block among `numbers`, in order."""
    with np.load(path) as stored:
        facts = [fact for fact in json.loads(str(stored["facts"])) if fact["number"] in numbers]
        return [
            Trajectory(
                fact["number"],
                InitialState.from_dict(fact["initial"]),
                Reason(fact["reason"]) if fact["reason"] else None,
                fact["source"],
                **{name: stored[f"{name}-{fact['number']}"] for name in ARRAYS},
            )
            for fact in facts
        ]
