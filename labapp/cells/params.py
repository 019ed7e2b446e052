"""What the runs of this app are asked for; validated when made, an error names the field."""

from dataclasses import dataclass

from robots.errors import ConfigError

MAX_SEED = 2**31 - 1


def check_seed(seed: int) -> None:
    if not 0 <= seed <= MAX_SEED:
        raise ConfigError(f"must lie in 0..{MAX_SEED}, got {seed}", "seed")


@dataclass(frozen=True)
class MeasureWorldParams:
    """Measure a cell through its drivers: calibrations of all three parts, and the world that rests on them."""

    cell: int
    name: str = "grounded"
    seed: int = 0

    def __post_init__(self) -> None:
        check_seed(self.seed)


@dataclass(frozen=True)
class NominalWorldParams:
    """The world exactly as the cell is described, nothing measured."""

    cell: int
    name: str = "nominal"
