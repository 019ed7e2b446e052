"""What the runs of this app are asked for; validated when made, an error names the field."""

from dataclasses import dataclass

from labapp.options import require, seed_within


@dataclass(frozen=True)
class MeasureWorldParams:
    """Measure a cell through its drivers: calibrations of all three parts, and the world that rests on them."""

    cell: int
    name: str = "grounded"
    seed: int = 0

    def __post_init__(self) -> None:
        require(seed_within(self.seed))


@dataclass(frozen=True)
class NominalWorldParams:
    """The world exactly as the cell is described, nothing measured."""

    cell: int
    name: str = "nominal"
