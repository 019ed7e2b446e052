"""What a generation is asked for; validated when made, an error names the field."""

from dataclasses import dataclass

from labapp.demos.params import EpisodeOptions
from robots.errors import ConfigError

MAX_WORKERS = 64


@dataclass(frozen=True)
class GenerateOptions(EpisodeOptions):
    """``n`` accepted trajectories, made by ``workers`` processes; the result does not depend on their number."""

    n: int = 200
    workers: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.workers <= MAX_WORKERS:
            raise ConfigError(f"must lie in 1..{MAX_WORKERS}, got {self.workers}", "workers")


@dataclass(frozen=True)
class GenerateParams:
    """The dataset's row holds the grounding configuration; these are the options beside it."""

    dataset: int
    options: GenerateOptions = GenerateOptions()
