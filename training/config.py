"""What a training run is asked to do, validated field by field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from robots.errors import ConfigError
from training.presets import PRESETS, Preset

Precision = Literal["auto", "bfloat16", "float32"]


@dataclass(frozen=True)
class ComponentConfig:
    """One episodes folder of the mixture.

    Attributes:
        path: a LeRobot v3.0 folder.
        weight: share of the drawn windows, relative to the other components' weights.
        kind: whether the episodes were recorded on a robot or made in simulation.
    """

    path: str
    weight: float = 1.0
    kind: Literal["real", "simulated"] = "simulated"

    def __post_init__(self) -> None:
        if not self.path:
            raise ConfigError("must name an episodes folder", "path")
        if not self.weight > 0:
            raise ConfigError(f"must be above 0, got {self.weight:g}; leave the component out instead", "weight")


@dataclass(frozen=True)
class TrainConfig:
    """Fields of the JSON config of `python -m training train`.

    Attributes:
        components: the mixture, at least one.
        preset: name of a network and optimiser preset.
        steps, minutes: budget; the run ends at whichever comes first, at least one is given. Minutes count training
            time only, not the reading of data.
        image_size: side of the images the policy sees [px].
        views: camera names, None for all that the first component has besides `external`.
        threads: CPU threads of torch.
        batch_size: None for the preset's.
        checkpoint_minutes, checkpoint_steps: a checkpoint is written at whichever comes first.
        keep_checkpoints: newest ones that are kept besides `final`.
        log_every: steps averaged in one metric value.
        cache_dir: where decoded frames are kept, None for the user's cache folder.
    """

    components: tuple[ComponentConfig, ...]
    preset: str = "tiny"
    seed: int = 0
    steps: int | None = None
    minutes: float | None = None
    image_size: int = 64
    views: tuple[str, ...] | None = None
    threads: int = 1
    batch_size: int | None = None
    precision: Precision = "auto"
    checkpoint_minutes: float = 1.0
    checkpoint_steps: int = 500
    keep_checkpoints: int = 3
    log_every: int = 20
    cache_dir: str | None = None

    def __post_init__(self) -> None:
        if not self.components:
            raise ConfigError("needs at least one episodes folder", "components")
        if self.preset not in PRESETS:
            raise ConfigError(f"no preset {self.preset!r}; known: {', '.join(PRESETS)}", "preset")
        if self.steps is None and self.minutes is None:
            raise ConfigError("give steps, minutes or both", "steps")
        self._check_sizes()

    def _check_sizes(self) -> None:
        counts = ("steps", "minutes", "batch_size", "checkpoint_minutes", "checkpoint_steps", "log_every", "threads")
        for name in (*counts, "keep_checkpoints"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ConfigError(f"must be above 0, got {value:g}", name)
        if self.image_size < 16 or self.image_size % 16:
            raise ConfigError(f"must be a positive multiple of 16, got {self.image_size}", "image_size")
        if self.views is not None and not self.views:
            raise ConfigError("needs at least one camera, or null for all", "views")

    @property
    def recipe(self) -> Preset:
        """The preset's values."""
        return PRESETS[self.preset]

    @property
    def batch(self) -> int:
        """Images drawn a step."""
        return self.batch_size or self.recipe.batch_size
