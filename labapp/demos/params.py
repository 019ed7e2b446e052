"""What the runs of this app are asked for; validated when made, an error names the field."""

from dataclasses import dataclass
from typing import Literal

from labapp.cells.params import check_seed
from robots.cell.bench import BENCH_CELL
from robots.errors import ConfigError

MAX_EPISODES = 5000
MIN_IMAGE, MAX_IMAGE = 32, 1024


def check_range(low: float, high: float, field: str) -> None:
    """Belt speeds [m/s]: ordered, and within what the belt can do."""
    limit = BENCH_CELL.belt.max_speed
    if not 0 <= low <= high <= limit:
        raise ConfigError(f"must be two speeds in order within 0..{limit:g} m/s, got {low:g} to {high:g}", field)


def check_image_size(size: int) -> None:
    if not MIN_IMAGE <= size <= MAX_IMAGE or size % 2:
        raise ConfigError(f"must be an even number within {MIN_IMAGE}..{MAX_IMAGE} pixels, got {size}", "image_size")


def check_count(count: int, field: str) -> None:
    if not 1 <= count <= MAX_EPISODES:
        raise ConfigError(f"must lie in 1..{MAX_EPISODES}, got {count}", field)


def check_fps(fps: float) -> None:
    if not 1 <= fps <= 50:
        raise ConfigError(f"must lie in 1..50 frames a second, got {fps:g}", "camera_fps")


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
        check_count(self.n, "n")
        check_seed(self.seed)
        check_range(*self.belt_speed, "belt_speed")
        check_image_size(self.image_size)
        check_fps(self.camera_fps)
        if not self.objects:
            raise ConfigError("needs at least one object", "objects")


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
