"""What the runs of this app are asked for; validated when made, an error names the field."""

from dataclasses import dataclass
from typing import Literal

from labapp.options import require, seed_within, within
from robots.cell.bench import BENCH_CELL

MAX_EPISODES = 5000
MIN_IMAGE, MAX_IMAGE = 32, 1024
MAX_SPEED = BENCH_CELL.belt.max_speed


@dataclass(frozen=True)
class EpisodeOptions:
    """What episodes on a bench cell or in simulation are to be: how many, of what, how seen."""

    n: int = 40
    seed: int = 0
    objects: tuple[str, ...] = BENCH_CELL.demonstrated_objects
    belt_speed: tuple[float, float] = (0.05, 0.15)
    image_size: int = 256
    camera_fps: float = 25.0

    def __post_init__(self) -> None:
        require(*self.checks())

    def checks(self) -> list[tuple[bool, str, str]]:
        """(holds, field, message) of every rule."""
        low, high = self.belt_speed
        speeds = f"must be two speeds in order within 0..{MAX_SPEED:g} m/s, got {low:g} and {high:g}"
        return [
            within("n", self.n, 1, MAX_EPISODES),
            seed_within(self.seed),
            (bool(self.objects), "objects", "needs at least one object"),
            (0 <= low <= high <= MAX_SPEED, "belt_speed", speeds),
            within("image_size", self.image_size, MIN_IMAGE, MAX_IMAGE, " pixels"),
            (self.image_size % 2 == 0, "image_size", f"must be even for video, got {self.image_size}"),
            within("camera_fps", self.camera_fps, 1, 50, " frames a second"),
        ]


@dataclass(frozen=True)
class RecordParams:
    """Demonstrations of the scripted demonstrator on a bench cell."""

    demonstration_set: int
    options: EpisodeOptions = EpisodeOptions()


@dataclass(frozen=True)
class ImportParams:
    """An episodes folder that somebody uploaded; ``upload`` is its folder in the store.

    ``units`` is the unit of state and action, when whoever imports knows it.
    """

    demonstration_set: int
    upload: str
    units: Literal["rad", "deg"] | None = None
