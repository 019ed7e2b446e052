"""What a generation is asked for; validated when made, an error names the field."""

from dataclasses import dataclass

from labapp.demos.params import EpisodeOptions
from labapp.options import within

MAX_WORKERS = 64


@dataclass(frozen=True)
class GenerateOptions(EpisodeOptions):
    """``n`` accepted trajectories, made by ``workers`` processes; the result does not depend on their number."""

    n: int = 200
    workers: int = 1

    def checks(self) -> list[tuple[bool, str, str]]:
        return [*super().checks(), within("workers", self.workers, 1, MAX_WORKERS)]


@dataclass(frozen=True)
class GenerateParams:
    """The dataset's row holds the grounding configuration; these are the options beside it."""

    dataset: int
    options: GenerateOptions = GenerateOptions()
