"""Configuration of `python -m generation evaluate`."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from robots.cell.bench import BENCH_CELL
from robots.cell.description import Side
from robots.cell.initial import Light
from robots.errors import ConfigError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}")
Check = tuple[bool, str, str]
Video = Literal["seen", "smooth", "none"]
VIDEOS: tuple[Video, ...] = get_args(Video)


@dataclass(frozen=True)
class StartConfig:
    """One start as a trial's order gives it; the seed draws where the object lies, as on the cell."""

    object: str
    belt_speed: float
    bin: Side
    seed: int

    def __post_init__(self) -> None:
        _require(_known(self.object, "object"), _belt(self.belt_speed, "belt_speed"), _seed(self.seed))


@dataclass(frozen=True)
class ConditionConfig:
    """One condition of a study.

    Attributes:
        name: as the rows of the result call it.
        rollouts: of each policy. light: of the room. belt_speed: lowest and highest [m/s]. objects: taking turns.
        starts: where the first rollouts begin, such as a study's own trials; further ones are drawn.
    """

    name: str
    rollouts: int
    light: Light = "white"
    belt_speed: tuple[float, float] = (0.08, 0.12)
    objects: tuple[str, ...] = BENCH_CELL.demonstrated_objects
    starts: tuple[StartConfig, ...] = ()

    def __post_init__(self) -> None:
        low, high = self.belt_speed
        _require(
            _named(self.name),
            (1 <= self.rollouts <= 100_000, "rollouts", f"must be 1..100000, not {self.rollouts}"),
            (low <= high, "belt_speed", f"must be [lowest, highest], not {list(self.belt_speed)}"),
            _belt(low, "belt_speed"),
            _belt(high, "belt_speed"),
            (bool(self.objects), "objects", "must name at least one object"),
            *(_known(name, "objects") for name in self.objects),
        )


@dataclass(frozen=True)
class PolicyConfig:
    """A checkpoint folder, and what the result calls its policy."""

    name: str
    checkpoint: Path

    def __post_init__(self) -> None:
        _require(_named(self.name))


@dataclass(frozen=True)
class EvaluateConfig:
    """Policies x conditions in one world; every policy begins at the same starts.

    Attributes:
        world: file with WorldParameters.
        seed: of drawn starts and of the policies' noise.
        time_limit_s: of one rollout. image_size: side of the square views [px], the agent's by default.
        block: rollouts simulated together; it is part of what makes two runs equal to the last bit.
        video: of every view, the frames that the policy is shown (every 12 ticks), smooth (every 4), or none.
        serve: command that serves a checkpoint, with `{checkpoint}` and `{socket}`; empty: `python -m training serve`.
    """

    world: Path
    policies: tuple[PolicyConfig, ...]
    conditions: tuple[ConditionConfig, ...]
    seed: int = 0
    time_limit_s: float = 12.0
    image_size: int = 128
    block: int = 16
    video: Video = "seen"
    serve: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = [policy.name for policy in self.policies]
        conditions = [condition.name for condition in self.conditions]
        is_fit = self.video == "none" or self.image_size % 2 == 0
        _require(
            (bool(names), "policies", "must name at least one policy"),
            (len(set(names)) == len(names), "policies", f"must have different names, not {names}"),
            (bool(conditions), "conditions", "must name at least one condition"),
            (len(set(conditions)) == len(conditions), "conditions", f"must have different names, not {conditions}"),
            _seed(self.seed),
            (0 < self.time_limit_s <= 600, "time_limit_s", f"must be above 0, up to 600 s, not {self.time_limit_s}"),
            (16 <= self.image_size <= 640, "image_size", f"must be 16..640 px, not {self.image_size}"),
            (is_fit, "image_size", f"must be even for video, not {self.image_size}"),
            (1 <= self.block <= 1024, "block", f"must be 1..1024, not {self.block}"),
            (self.video in VIDEOS, "video", f"must be one of {', '.join(VIDEOS)}, not {self.video}"),
            (not self.serve or "{socket}" in self.serve, "serve", "must have an argument {socket}"),
        )


def _require(*checks: Check) -> None:
    for is_fine, name, message in checks:
        if not is_fine:
            raise ConfigError(message, name)


def _named(name: str) -> Check:
    return bool(NAME.fullmatch(name)), "name", f"must be letters, digits, '.', '_' and '-', not {name!r}"


def _known(name: str, field: str) -> Check:
    known = [o.name for o in BENCH_CELL.objects]
    return name in known, field, f"must be among {', '.join(known)}, not {name!r}"


def _belt(speed: float, field: str) -> Check:
    fastest = BENCH_CELL.belt.max_speed
    return 0 <= speed <= fastest, field, f"must be 0..{fastest} m/s, not {speed}"


def _seed(seed: int) -> Check:
    return seed >= 0, "seed", f"must be >= 0, not {seed}"
