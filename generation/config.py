"""Configurations of the generation commands; a run's resolved one is saved as OUT/config.json."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from generation.attempts import NoiseLevels
from robots.cell.bench import BENCH_CELL
from robots.errors import ConfigError

BehaviorName = Literal["adapt", "synthesize"]


@dataclass(frozen=True)
class GenerateConfig:
    """One simulated dataset: a world x a behavior source.

    Attributes:
        world: file with WorldParameters. behavior: `adapt` (grounded) or `synthesize` (ungrounded).
        demonstrations: episodes folder to adapt; required for `adapt`.
        n: accepted trajectories wanted. seed: of everything random.
        objects: taking turns. belt_speed: lowest and highest [m/s].
        image_size: of the square views [px]. camera_fps: frames a second.
        workers: processes; 0 takes one per core. The result does not depend on it.
        shard: episodes a shard. block: attempts simulated together.
        noise: of the executed commands.
        min_yield: the run gives up when, after 200 attempts, a smaller share was accepted.
    """

    world: Path
    behavior: BehaviorName
    n: int
    demonstrations: Path | None = None
    seed: int = 0
    objects: tuple[str, ...] = BENCH_CELL.demonstrated_objects
    belt_speed: tuple[float, float] = (0.05, 0.20)
    image_size: int = 256
    camera_fps: float = 25.0
    workers: int = 0
    shard: int = 10
    block: int = 16
    noise: NoiseLevels = field(default_factory=NoiseLevels)
    min_yield: float = 0.05

    def __post_init__(self) -> None:
        known = [o.name for o in BENCH_CELL.objects]
        low, high = self.belt_speed
        fastest = BENCH_CELL.belt.max_speed
        checks = [
            (self.n >= 1, "n", f"must be >= 1, not {self.n}"),
            (self.seed >= 0, "seed", f"must be >= 0, not {self.seed}"),
            (bool(self.objects), "objects", "must name at least one object"),
            (not set(self.objects) - set(known), "objects", f"must be among {', '.join(known)}, not {self.objects}"),
            (0 <= low <= high, "belt_speed", f"must be [lowest, highest] and >= 0, not {list(self.belt_speed)}"),
            (high <= fastest, "belt_speed", f"must be <= {fastest} m/s, not {high}"),
            (16 <= self.image_size <= 640, "image_size", f"must be 16..640 px, not {self.image_size}"),
            (self.image_size % 2 == 0, "image_size", f"must be even for video, not {self.image_size}"),
            (1 <= self.camera_fps <= 50, "camera_fps", f"must be 1..50, not {self.camera_fps}"),
            (0 <= self.workers <= 256, "workers", f"must be 0..256, not {self.workers}"),
            (self.shard >= 1, "shard", f"must be >= 1, not {self.shard}"),
            (1 <= self.block <= 1024, "block", f"must be 1..1024, not {self.block}"),
            (0 <= self.min_yield < 1, "min_yield", f"must be within 0..1, not {self.min_yield}"),
            (self.behavior == "synthesize" or self.demonstrations is not None, "demonstrations",
             "an episodes folder is needed to adapt from"),
        ]  # fmt: skip
        for is_fine, name, message in checks:
            if not is_fine:
                raise ConfigError(message, name)


@dataclass(frozen=True)
class RegisterConfig:
    """One registration of a bench cell.

    Attributes:
        bench_seed: of the cell's hidden truth. seed: of the excitation and the board poses.
        board_views: checkerboard images a camera.
        excitation_s: recording to fit the arm on [s]. holdout_s: recording to check it on [s].
    """

    bench_seed: int = 0
    seed: int = 0
    board_views: int = 14
    excitation_s: float = 16.0
    holdout_s: float = 8.0

    def __post_init__(self) -> None:
        checks = [
            (self.bench_seed >= 0, "bench_seed", f"must be >= 0, not {self.bench_seed}"),
            (self.seed >= 0, "seed", f"must be >= 0, not {self.seed}"),
            (3 <= self.board_views <= 60, "board_views", f"must be 3..60, not {self.board_views}"),
            (4 <= self.excitation_s <= 300, "excitation_s", f"must be 4..300 s, not {self.excitation_s}"),
            (2 <= self.holdout_s <= 120, "holdout_s", f"must be 2..120 s, not {self.holdout_s}"),
        ]
        for is_fine, name, message in checks:
            if not is_fine:
                raise ConfigError(message, name)
