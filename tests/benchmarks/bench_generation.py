"""Generation: physics and rendering against bare loops over the same work, and a dataset of the quick study's size."""

import io
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
from generation.pipeline import generate
from generation.rendering import check_frames, frame_ticks
from generation.worker import Worker
from robots.cell.bench import BENCH_CELL
from robots.cell.description import STEPS_PER_TICK
from robots.cell.world import nominal_world
from robots.progress import Progress

PHYSICS_BAR, RENDERING_BAR, SECONDS_BAR = 0.6, 0.7, 50.0
BLOCK, BLOCKS, ROUNDS = 16, 2, 3
SIZE, FPS, EPISODES = 96, 12.5, 200


def run() -> list[dict[str, Any]]:
    """Rows of the benchmark file; the loops of a ratio take turns, so that both meet the same machine."""
    with tempfile.TemporaryDirectory() as folder:
        config = _config(Path(folder), n=1)
        worker = Worker(config, nominal_world(BENCH_CELL), Path(folder))
        trajectories, physics = _physics(worker)
        return [physics, _rendering(worker, trajectories[:6]), _dataset(Path(folder))]


def _config(folder: Path, n: int) -> GenerateConfig:
    world = folder / "world.json"
    world.write_text(nominal_world(BENCH_CELL).to_json())
    return GenerateConfig(world, "synthesize", n, image_size=SIZE, camera_fps=FPS, block=BLOCK)


def _physics(worker: Worker) -> tuple[list[Trajectory], dict[str, Any]]:
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
    return kept, _row("generation physics / bare mujoco.batch loop", ours / bare, PHYSICS_BAR, detail)


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


def _rendering(worker: Worker, trajectories: list[Trajectory]) -> dict[str, Any]:
    """Frames per second of the rendering stage with its watchdog, and of mujoco.Renderer alone on the same states."""
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
    return _row("generation rendering / bare renderer", min(bare) / min(ours), RENDERING_BAR, detail)


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


def _dataset(folder: Path) -> dict[str, Any]:
    """Seconds for 200 accepted trajectories with three views, on all cores."""
    progress = Progress(events=True, stream=io.StringIO())
    result = generate(_config(folder, EPISODES), folder / "dataset", progress)
    detail = f"{EPISODES} episodes, three views of {SIZE} px, {result['attempts']} attempts, {os.cpu_count()} cores"
    row = _row("generation of 200 trajectories [s]", result["seconds"], SECONDS_BAR, detail)
    return row | {"ok": result["seconds"] <= SECONDS_BAR}


def _seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _row(name: str, value: float, bar: float, detail: str) -> dict[str, Any]:
    return {"name": name, "value": round(value, 3), "bar": bar, "ok": value >= bar, "detail": detail}
