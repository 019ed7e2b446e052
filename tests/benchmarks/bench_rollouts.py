"""Evaluation: rollouts recorded with each kind of video against the same rollouts unrecorded, in processor time."""

import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("MUJOCO_GL", "egl")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("LP_NUM_THREADS", "0")

import numpy as np

from generation.evaluation import Evaluator, Seen, rollout_orders
from generation.evaluation.command import FRAME_TICKS
from generation.evaluation.config import ConditionConfig
from generation.evaluation.recording import BlockRecorder
from generation.physics import CpuEngine
from generation.rendering import MujocoRenderer
from robots.cell.bench import BENCH_CELL
from robots.cell.description import STEPS_PER_TICK
from robots.cell.scene import Scene
from robots.cell.world import nominal_world

BARS = {"none": 1.3, "seen": 2.0, "smooth": 4.0}  # times the unrecorded rollouts
ROLLOUTS, SIZE = 4, 128


class AtHome:
    """Looks at every view and moves nothing, so that every rollout takes the whole time."""

    views = BENCH_CELL.policy_views

    def act(self, seen: Sequence[Seen]) -> np.ndarray:
        return np.tile(BENCH_CELL.home_state.astype(np.float32), (len(seen), 40, 1))


def run() -> list[dict[str, Any]]:
    """Rows of the benchmark file: recorded / unrecorded, by what the videos hold."""
    scene = Scene(BENCH_CELL, nominal_world(BENCH_CELL))
    engine = CpuEngine(scene.model, ROLLOUTS, STEPS_PER_TICK)
    evaluator = Evaluator(scene, engine, MujocoRenderer(scene, SIZE))
    _seconds(evaluator, None)
    with tempfile.TemporaryDirectory() as folder:
        bare = [_seconds(evaluator, None)]
        recorded = {}
        for video in BARS:
            recorded[video] = _seconds(evaluator, Path(folder) / video, video)
            bare.append(_seconds(evaluator, None))
        size = {video: _size(Path(folder) / video) for video in BARS}
    mean = sum(bare) / len(bare)
    return [_row(video, seconds, mean, size[video]) for video, seconds in recorded.items()]


def _seconds(evaluator: Evaluator, folder: Path | None, video: str = "none") -> float:
    """Processor seconds of one rollout of 12 s, recorded where a folder is given."""
    orders = rollout_orders(BENCH_CELL, [ConditionConfig("nominal", ROLLOUTS)], seed=0)
    began = time.process_time()
    if folder is None:
        evaluator.run(AtHome(), orders)
    else:
        views = BENCH_CELL.policy_views if video != "none" else ()
        with BlockRecorder(folder, BENCH_CELL, views, SIZE, FRAME_TICKS[video]) as recorder:
            evaluator.run(AtHome(), orders, recorder)
            recorder.write(["rest"] * ROLLOUTS, [{"number": n} for n in range(ROLLOUTS)])
    return (time.process_time() - began) / ROLLOUTS


def _size(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / ROLLOUTS


def _row(video: str, seconds: float, bare: float, size: float) -> dict[str, Any]:
    ratio, bar = seconds / bare, BARS[video]
    detail = f"100 rollouts of 12 s: {100 * bare:.0f} s unrecorded, {100 * seconds:.0f} s; {size / 1000:.0f} kB each"
    return {"name": f"rollouts with video: {video}", "value": ratio, "bar": bar, "ok": ratio <= bar, "detail": detail}
