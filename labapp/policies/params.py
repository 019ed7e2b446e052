"""What a training is asked for; validated when made, an error names the field."""

from dataclasses import dataclass

from labapp.cells.params import check_seed
from robots.errors import ConfigError

PRESETS = ("tiny",)
MAX_MINUTES = 60 * 24 * 14


@dataclass(frozen=True)
class TrainOptions:
    """Network, budget and what the training may use."""

    preset: str = "tiny"
    seed: int = 0
    minutes: float | None = 10.0
    steps: int | None = None
    image_size: int = 64
    threads: int = 1

    def __post_init__(self) -> None:
        check_seed(self.seed)
        if self.preset not in PRESETS:
            raise ConfigError(f"must be one of {', '.join(PRESETS)}, got {self.preset}", "preset")
        if self.minutes is None and self.steps is None:
            raise ConfigError("give minutes, steps or both: the training ends at whichever comes first", "minutes")
        if self.minutes is not None and not 0 < self.minutes <= MAX_MINUTES:
            raise ConfigError(f"must lie above 0 and up to {MAX_MINUTES} (two weeks), got {self.minutes:g}", "minutes")
        if self.steps is not None and self.steps < 1:
            raise ConfigError(f"must be at least 1, got {self.steps}", "steps")
        if self.image_size < 16 or self.image_size > 512 or self.image_size % 16:
            raise ConfigError(f"must be a multiple of 16 within 16..512 pixels, got {self.image_size}", "image_size")
        if not 1 <= self.threads <= 256:
            raise ConfigError(f"must lie in 1..256, got {self.threads}", "threads")


@dataclass(frozen=True)
class TrainParams:
    """The policy's row holds the mixture; these are the options beside it."""

    policy: int
    options: TrainOptions = TrainOptions()
