"""What a training is asked for; validated when made, an error names the field."""

from dataclasses import dataclass

from labapp.options import require, seed_within, within

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
        minutes, steps = self.minutes, self.steps
        require(
            seed_within(self.seed),
            (self.preset in PRESETS, "preset", f"must be one of {', '.join(PRESETS)}, got {self.preset}"),
            (minutes is not None or steps is not None, "minutes", "give minutes, steps or both"),
            (minutes is None or 0 < minutes <= MAX_MINUTES, "minutes", f"must lie above 0, up to {MAX_MINUTES}"),
            (steps is None or steps >= 1, "steps", f"must be at least 1, got {steps}"),
            within("image_size", self.image_size, 16, 512, " pixels"),
            (self.image_size % 16 == 0, "image_size", f"must be a multiple of 16, got {self.image_size}"),
            within("threads", self.threads, 1, 256),
        )


@dataclass(frozen=True)
class TrainParams:
    """The policy's row holds the mixture; these are the options beside it."""

    policy: int
    options: TrainOptions = TrainOptions()
