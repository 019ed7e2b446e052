"""Replay check: a kept trajectory, run again from its stored start with its own commands, succeeds again."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from generation.attempts import Sampling
from generation.config import GenerateConfig
from generation.filtering import TrajectoryJudge
from generation.folder import load_world
from generation.physics import CpuEngine, roll_out
from generation.physics.scenes import start_of
from robots.cell.bench import BENCH_CELL
from robots.cell.description import STEPS_PER_TICK
from robots.cell.initial import InitialState
from robots.cell.scene import Scene
from robots.config import load_config
from robots.episodes import EpisodesReader
from robots.progress import Progress


def replay(out: Path, progress: Progress, episodes: Sequence[int] | None = None) -> dict[str, Any]:
    """Replay episodes of a finished generate run.

    Returns:
        `ok`, `replayed`, `succeeded`, `failed` (episode and reason), `largest_deviation` of a joint from the stored
        states [rad].

    Raises:
        DataError: the folder holds no dataset. ConfigError: its configuration or world cannot be read.
    """
    config = load_config(GenerateConfig, out / "config.json")
    scene = Scene(BENCH_CELL, load_world(out / "world.json"))
    engine, judge = CpuEngine(scene.model, 1, STEPS_PER_TICK), TrajectoryJudge(scene)
    sampling = Sampling(BENCH_CELL, config.seed, config.objects, config.belt_speed, config.noise)
    reader = EpisodesReader(out / "episodes")
    indexes = [row.index for row in reader.episodes] if episodes is None else list(episodes)
    failed, deviation = [], 0.0
    for count, index in enumerate(indexes, 1):
        row = reader.row(index)
        columns = reader.read(index, ["observation.state", "action"]).columns
        initial = InitialState.from_dict(row.extra["initial_state"])
        ticks = len(columns["action"])
        executed = columns["action"] + sampling.command_noise(row.extra["attempt"], ticks)
        rollout = roll_out(engine, [start_of(scene, initial)], executed[None][:, :, scene.action_index])
        verdict = judge.judge(initial, rollout.qpos[0], rollout.qvel[0], int(rollout.flags[0]))
        if verdict.reason is not None:
            failed.append({"episode": index, "reason": verdict.reason.value})
        stored = columns["observation.state"][:, scene.action_index]
        deviation = max(deviation, float(np.abs(rollout.qpos[0, :ticks][:, scene.qpos_index] - stored).max()))
        progress.progress(count, len(indexes), "replays")
    return {
        "ok": not failed,
        "replayed": len(indexes),
        "succeeded": len(indexes) - len(failed),
        "failed": failed,
        "largest_deviation": deviation,
    }
