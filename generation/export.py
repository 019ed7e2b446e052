"""Accepted trajectories to episodes: states, clean actions, rendered views, lineage."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generation.attempts import Trajectory
from generation.behavior.plan import Phase
from generation.rendering import FrameRenderer, check_frames, frame_ticks
from robots.cell.description import CONTROL_HZ, CellDescription
from robots.cell.initial import instruction
from robots.cell.scene import Scene
from robots.cell.world import WorldParameters
from robots.episodes import EpisodesWriter, Feature, VideoEncoding

IMAGES = "observation.images."
ENCODING = VideoEncoding(preset="ultrafast", gop=16)
STILL = 1e-4  # change of any joint or coordinate below which two states look the same [rad, m]


def world_hash(world: WorldParameters) -> str:
    """SHA-256 of a world's canonical JSON: its version in the lineage."""
    return hashlib.sha256(world.to_json().encode()).hexdigest()


def write_shard(
    folder: Path,
    trajectories: Iterable[Trajectory],
    scene: Scene,
    renderer: FrameRenderer,
    *,
    image_size: int,
    camera_fps: float,
    lineage: Callable[[Trajectory], Mapping[str, Any]],
) -> None:
    """Render and write trajectories as a new episodes folder, one after the other.

    Args:
        lineage: facts that an episode's extra columns get besides those of the trajectory itself.

    Raises:
        RenderFaultError: the renderer gave black or frozen frames.
    """
    cell = scene.cell
    vector = Feature.vector(cell.joint_names, units="rad")
    features = {"observation.state": vector, "action": vector}
    features |= {IMAGES + view: Feature.video(image_size, image_size) for view in renderer.views}
    with EpisodesWriter.create(
        folder, fps=CONTROL_HZ, robot_type=cell.name, features=features, encoding=ENCODING
    ) as writer:
        for trajectory in trajectories:
            _write(writer, trajectory, scene, renderer, camera_fps, lineage(trajectory))


def _write(
    writer: EpisodesWriter,
    trajectory: Trajectory,
    scene: Scene,
    renderer: FrameRenderer,
    camera_fps: float,
    lineage: Mapping[str, Any],
) -> None:
    initial, qpos = trajectory.initial, trajectory.qpos
    if qpos is None or trajectory.actions is None:
        raise ValueError(f"attempt {trajectory.number} was rejected ({trajectory.reason}); there is nothing to write")
    taken, newest = frame_ticks(len(qpos), camera_fps)
    frames = renderer.render(initial, qpos[taken])
    check_frames(frames, np.any(np.abs(np.diff(qpos[taken], axis=0)) > STILL, axis=1))
    with writer.episode(task=instruction(initial.object, initial.bin)) as episode:
        columns: dict[str, Any] = {
            "observation.state": _states(scene.cell, scene, qpos),
            "action": trajectory.actions,
        }
        columns |= {IMAGES + view: images[newest] for view, images in frames.items()}
        episode.add_rows(columns)
        episode.commit(extra=_facts(trajectory) | dict(lineage))


def _states(cell: CellDescription, scene: Scene, qpos: NDArray[np.float64]) -> NDArray[np.float32]:
    states = np.tile(cell.home_state, (len(qpos), 1))
    states[:, scene.action_index] = qpos[:, scene.qpos_index]
    return states.astype(np.float32)


def _facts(trajectory: Trajectory) -> dict[str, Any]:
    initial = trajectory.initial
    return {
        "object": initial.object,
        "belt_speed": initial.belt_speed,
        "bin": initial.bin,
        "outcome": "success",
        "is_simulated": True,
        "attempt": trajectory.number,
        "initial_state": initial.to_dict(),
        "phases": _phase_ranges(trajectory.phases),
        "source_demonstration": str(trajectory.source.get("source_demonstration", "")),
        "behavior_facts": trajectory.source,
    }


def _phase_ranges(phases: NDArray[np.int8] | None) -> dict[str, list[int]]:
    """Rows [start, end) of each phase that occurs."""
    if phases is None:
        return {}
    rows = {phase: np.flatnonzero(phases == phase) for phase in Phase}
    return {phase.name.lower(): [int(r[0]), int(r[-1]) + 1] for phase, r in rows.items() if len(r)}
