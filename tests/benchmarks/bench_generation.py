"""Generation: physics and rendering against bare loops over the same work, and a dataset of the quick study's size."""

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("MUJOCO_GL", "egl")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("LP_NUM_THREADS", "0")

import mujoco
import numpy as np
from mujoco.batch import Batch

from generation.attempts import Trajectory
from generation.config import GenerateConfig
from generation.export import STILL
from generation.physics.scenes import start_of
from generation.rendering import check_frames, frame_ticks
from generation.worker import ShardOrder, Worker
from robots.cell.bench import BENCH_CELL
from robots.cell.description import STEPS_PER_TICK
from robots.cell.world import nominal_world
from robots.episodes import EpisodesReader

PHYSICS_BAR, RENDERING_BAR, WHOLE_BAR = 0.6, 0.7, 0.5
BLOCK, BLOCKS, ROUNDS = 16, 2, 3
SIZE, FPS = 96, 12.5
STUDY = 200  # episodes a configuration of the quick study


class Rates(NamedTuple):
    """What bare loops reach on one core."""

    steps: float  # physics steps a second
    frames: float  # frames a second


def run() -> list[dict[str, Any]]:
    """Rows of the benchmark file; the loops of a ratio take turns, so that both meet the same machine."""
    with tempfile.TemporaryDirectory() as folder:
        world = Path(folder) / "world.json"
        world.write_text(nominal_world(BENCH_CELL).to_json())
        config = GenerateConfig(world, "synthesize", 1, image_size=SIZE, camera_fps=FPS, block=BLOCK)
        worker = Worker(config, nominal_world(BENCH_CELL), Path(folder))
        kept, steps, physics = _physics(worker)
        frames, rendering = _rendering(worker, kept[:6])
        return [physics, rendering, _whole(worker, Rates(steps, frames))]


def _physics(worker: Worker) -> tuple[list[Trajectory], float, dict[str, Any]]:
    """Steps per second of whole attempts (plan, inverse kinematics, physics, filter) and of stepping alone."""
    simulator, scene = worker.simulator, worker.scene
    kept: list[Trajectory] = []
    ours = bare = 0.0
    for block in range(BLOCKS):
        numbers = range(block * BLOCK, (block + 1) * BLOCK)
        seconds = _seconds(lambda numbers=numbers: kept.extend(t for t in simulator.run(numbers) if t.reason is None))
        done = [t for t in kept if t.number in numbers]
        ours += simulator.ticks * STEPS_PER_TICK / seconds / BLOCKS
        batch, ctrl = _bare_batch(scene, done)
        seconds = _seconds(lambda batch=batch, ctrl=ctrl: _step(batch, ctrl))
        bare += len(done) * len(ctrl) * STEPS_PER_TICK / seconds / BLOCKS
    detail = f"{ours:.0f} against {bare:.0f} steps/s on one thread"
    return kept, bare, _row("generation physics / bare mujoco.batch loop", ours / bare, PHYSICS_BAR, detail)


def _bare_batch(scene: Any, trajectories: list[Trajectory]) -> tuple[Batch, np.ndarray]:
    ticks = min(len(t.actions) for t in trajectories if t.actions is not None)
    starts = [start_of(scene, t.initial) for t in trajectories]
    batch = Batch(scene.model, len(trajectories), 1)
    for i, start in enumerate(starts):
        for name, values in start.fields.items():
            batch.expand(name)[i] = values
        batch.state[i] = start.state
    ctrl = np.stack([t.actions[:ticks] for t in trajectories if t.actions is not None], axis=1)
    return batch, ctrl[:, :, scene.action_index].astype(float)


def _step(batch: Batch, ctrl: np.ndarray) -> None:
    commands = batch.bind("ctrl")
    for targets in ctrl:
        commands[:] = targets
        batch.step(nstep=STEPS_PER_TICK)


def _rendering(worker: Worker, trajectories: list[Trajectory]) -> tuple[float, dict[str, Any]]:
    """Frames per second of the rendering stage with its watchdog, and of mujoco.Renderer alone on the same states.

    Both give one image of SIZE a view; ours draws a fisheye's larger and samples it, the bare one leaves it a pinhole.
    """
    plain = mujoco.Renderer(worker.scene.model, SIZE, SIZE)
    for flag in (mujoco.mjtRndFlag.mjRND_SHADOW, mujoco.mjtRndFlag.mjRND_REFLECTION, mujoco.mjtRndFlag.mjRND_SKYBOX):
        plain.scene.flags[flag] = 0
    states = [t.qpos[frame_ticks(len(t.qpos), FPS)[0]] for t in trajectories if t.qpos is not None]
    frames = sum(len(s) for s in states) * len(BENCH_CELL.policy_views)
    ours, bare = [], []
    for _ in range(ROUNDS):
        ours.append(_seconds(lambda: _render(worker, trajectories, states)))
        bare.append(_seconds(lambda: _render_plainly(worker, plain, trajectories, states)))
    plain.close()
    detail = f"{frames / min(ours):.0f} against {frames / min(bare):.0f} frames/s of {SIZE} px on one core"
    row = _row("generation rendering / bare renderer", min(bare) / min(ours), RENDERING_BAR, detail)
    return frames / min(bare), row


def _render(worker: Worker, trajectories: list[Trajectory], states: list[np.ndarray]) -> None:
    for trajectory, qpos in zip(trajectories, states, strict=True):
        frames = worker.renderer.render(trajectory.initial, qpos)
        check_frames(frames, np.any(np.abs(np.diff(qpos, axis=0)) > STILL, axis=1))


def _render_plainly(
    worker: Worker, plain: mujoco.Renderer, trajectories: list[Trajectory], states: list[np.ndarray]
) -> None:
    scene = worker.scene
    for trajectory, qpos in zip(trajectories, states, strict=True):
        scene.reset(trajectory.initial)
        for q in qpos:
            scene.data.qpos[:] = q
            mujoco.mj_forward(scene.model, scene.data)
            for view in BENCH_CELL.policy_views:
                plain.update_scene(scene.data, camera=view)
                plain.render()


def _whole(worker: Worker, bare: Rates) -> dict[str, Any]:
    """Everything from attempts to written episodes, against nothing but stepping and drawing the same amount."""
    began = time.process_time()
    accepted = tuple(outcome.number for outcome in worker.simulate(0) if outcome.reason is None)
    folder = worker.render(ShardOrder(0, {0: accepted}, {number: {} for number in accepted}))
    seconds = time.process_time() - began
    rows = [row.length for row in EpisodesReader(folder).episodes]
    frames = sum(len(frame_ticks(length, FPS)[0]) for length in rows) * len(BENCH_CELL.policy_views)
    least = worker.simulator.ticks * STEPS_PER_TICK / bare.steps + frames / bare.frames
    each = seconds / len(accepted)
    detail = f"{each:.2f} s an accepted episode on one core: {STUDY * each / 2:.0f} s for {STUDY} on two"
    return _row("generation, attempts to written episodes / bare loops", least / seconds, WHOLE_BAR, detail)


def _seconds(work: Callable[[], Any]) -> float:
    """CPU seconds of this process: everything here runs on one thread, and other processes shall not count."""
    began = time.process_time()
    work()
    return time.process_time() - began


def _row(name: str, value: float, bar: float, detail: str) -> dict[str, Any]:
    return {"name": name, "value": round(value, 3), "bar": bar, "ok": value >= bar, "detail": detail}
