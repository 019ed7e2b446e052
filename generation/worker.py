"""What a worker process does: simulate a block, render a shard. Idempotent: what is there is not made again."""

import os
import shutil
import signal
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from multiprocessing import connection, parent_process
from pathlib import Path
from typing import Any

from generation.attempts import Sampling, Simulator, Trajectory
from generation.behavior.recordings import load_demonstrations
from generation.behavior.source import Adaptation, Behavior
from generation.behavior.synthesize import Synthesizer
from generation.blocks import Outcome, block_path, read_outcomes, read_trajectories, write_block
from generation.config import GenerateConfig
from generation.export import world_hash, write_shard
from generation.filtering import PREDICATE
from generation.physics import CpuEngine
from generation.rendering import MujocoRenderer, RenderFaultError
from robots.cell.bench import BENCH_CELL
from robots.cell.description import STEPS_PER_TICK
from robots.cell.scene import Scene
from robots.cell.world import WorldParameters
from robots.config import to_json

RENDER_TRIES = 2


@dataclass(frozen=True)
class ShardOrder:
    """A shard to render.

    Attributes:
        index: of the shard. attempts: block index -> attempt numbers of it that belong to the shard.
        rejected: attempt number -> rejections by reason since the accepted attempt before it.
    """

    index: int
    attempts: Mapping[int, tuple[int, ...]]
    rejected: Mapping[int, Mapping[str, int]]

    @property
    def episodes(self) -> int:
        """How many it holds."""
        return sum(len(numbers) for numbers in self.attempts.values())


class Worker:
    """One process's scene, behavior, engine and renderer; each made when first needed."""

    def __init__(self, config: GenerateConfig, world: WorldParameters, out: Path) -> None:
        self.config, self.world, self.out = config, world, out

    @cached_property
    def scene(self) -> Scene:
        """The world that attempts run in."""
        return Scene(BENCH_CELL, self.world)

    @cached_property
    def behavior(self) -> Behavior:
        """The configured behavior source."""
        if self.config.behavior == "synthesize" or self.config.demonstrations is None:
            return Synthesizer.of(BENCH_CELL, self.world)
        return Adaptation(load_demonstrations(self.config.demonstrations, BENCH_CELL, self.world))

    @cached_property
    def simulator(self) -> Simulator:
        """Attempts of this run."""
        config = self.config
        sampling = Sampling(BENCH_CELL, config.seed, config.objects, config.belt_speed, config.noise)
        engine = CpuEngine(self.scene.model, config.block, STEPS_PER_TICK)
        return Simulator(sampling, self.world, self.behavior, self.scene, engine)

    @cached_property
    def renderer(self) -> MujocoRenderer:
        """Views of the scene."""
        return MujocoRenderer(self.scene, self.config.image_size)

    def simulate(self, index: int) -> list[Outcome]:
        """Run block `index` of attempts unless its file is there; its outcomes."""
        path = block_path(self.out / "attempts", index)
        if not path.exists():
            first = index * self.config.block
            write_block(path, self.simulator.run(range(first, first + self.config.block)))
        return read_outcomes(path)

    def render(self, order: ShardOrder) -> Path:
        """Write the shard unless it is there; its folder."""
        folder = shard_path(self.out, order.index)
        for attempt in range(RENDER_TRIES):
            if folder.exists():
                break
            try:
                self._render(order, folder)
            except RenderFaultError:
                if attempt + 1 == RENDER_TRIES:
                    raise
                self.renderer.close()
                del self.renderer
        return folder

    def _render(self, order: ShardOrder, folder: Path) -> None:
        partial = folder.with_name(f".{folder.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        write_shard(
            partial,
            self._trajectories(order),
            self.scene,
            self.renderer,
            image_size=self.config.image_size,
            camera_fps=self.config.camera_fps,
            lineage=lambda trajectory: self._lineage(trajectory, order),
        )
        partial.rename(folder)

    def _trajectories(self, order: ShardOrder) -> list[Trajectory]:
        blocks = sorted(order.attempts.items())
        return [
            t for b, numbers in blocks for t in read_trajectories(block_path(self.out / "attempts", b), set(numbers))
        ]

    def _lineage(self, trajectory: Trajectory, order: ShardOrder) -> dict[str, Any]:
        return {
            "world_sha256": world_hash(self.world),
            "world_grounded": self.world.is_grounded,
            "behavior": self.config.behavior,
            "behavior_grounded": self.config.behavior == "adapt",
            "generation_seed": self.config.seed,
            "noise": to_json(self.config.noise),
            "predicate": PREDICATE,
            "rejected_before": dict(order.rejected[trajectory.number]),
        }


def shard_path(out: Path, index: int) -> Path:
    """Folder of shard `index`."""
    return out / "shards" / f"shard-{index:04d}"


_worker: Worker | None = None


def start_worker(config: GenerateConfig, world: WorldParameters, out: Path) -> None:
    """Initialise a worker process: it stops when told to or when its parent is gone, not at the parent's signals."""
    global _worker  # noqa: PLW0603  (the one state of a worker process; set once, before its first job)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    _worker = Worker(config, world, out)


def simulate_block(index: int) -> list[Outcome]:
    """`Worker.simulate` in this process's worker."""
    return _this_worker().simulate(index)


def render_shard(order: ShardOrder) -> Path:
    """`Worker.render` in this process's worker."""
    return _this_worker().render(order)


def _this_worker() -> Worker:
    if _worker is None:
        raise RuntimeError("this process was not started as a generation worker")
    return _worker


def _exit_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
