"""What the results page shows, already computed, and the one question it asks for it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from frontend.dashboards.filters import Filters
from frontend.dashboards.simulated_content import SimulatedCard
from frontend.figures.data import (
    CellMean,
    CoursePath,
    EffectPoint,
    LookPath,
    ModeCounts,
    RatePoint,
    StageCurve,
    TimeCurve,
)


@dataclass(frozen=True)
class Cell:
    """One cell of the success table; rate and bounds are None without trials."""

    successes: int
    trials: int
    rate: float | None
    low: float | None
    high: float | None
    href: str


@dataclass(frozen=True)
class Row:
    """One arm of the success table. `detail` says what the arm is, empty while its identity is hidden."""

    arm: str
    detail: str
    is_simulated: bool
    cells: tuple[Cell, ...]
    letters: str = ""
    latency_ms: float | None = None


@dataclass(frozen=True)
class ComparisonLine:
    """Two arms compared: difference in points with interval, p-value adjusted for all pairs; None without trials.

    `more` says how many more trials per arm would show the difference, or that it is shown.
    """

    first: str
    second: str
    points: float | None
    low: float | None
    high: float | None
    adjusted_p: float | None
    href: str = ""
    more: str = ""


@dataclass(frozen=True)
class PairedLine:
    """Two arms compared over pairs (same seed, episode or block): discordant pairs, difference in points, exact p."""

    first: str
    second: str
    pairs: int
    only_first: int
    only_second: int
    points: float
    low: float
    high: float
    p: float
    sentence: str
    href: str = ""


@dataclass(frozen=True)
class DeclaredLine:
    """What came of something that the plan declared, in a sentence, and the trials behind it."""

    sentence: str
    href: str = ""


@dataclass(frozen=True)
class EffectLine:
    """One effect as the page tells it: numbers for the plot, p-value, and a sentence that claims no more."""

    point: EffectPoint
    p: float
    sentence: str


@dataclass(frozen=True)
class LookedComparison:
    """One comparison under the plan's stopping rule: path for the figure, points at its looks or blocks, sentence."""

    key: str
    label: str
    sentence: str
    path: LookPath | CoursePath
    estimates: tuple[float | None, ...]


@dataclass(frozen=True)
class LooksCard:
    """When the plan lets the data be looked at and what came of it; `missing` says why nothing can be told.

    `verdict` is "stop" or "go on", `sentence` says why; `command` gives the same from the exported rows.
    """

    rule: str
    note: str
    verdict: str = ""
    sentence: str = ""
    position: str = ""
    finished: int = 0
    planned: int = 0
    look_blocks: tuple[int, ...] = ()
    comparisons: tuple[LookedComparison, ...] = ()
    notes: tuple[str, ...] = ()
    command: str = ""
    missing: str = ""


@dataclass(frozen=True)
class PosteriorLine:
    """The Bayesian second view of one effect in one group of trials: points, and the probability of above zero."""

    effect: str
    group: str
    points: float
    low: float
    high: float
    probability: float
    href: str = ""


@dataclass(frozen=True)
class ProgressLine:
    """Two arms by how far their trials got: P(first gets further), ties half, with interval and adjusted p."""

    first: str
    second: str
    superiority: float
    low: float
    high: float
    adjusted_p: float
    href: str = ""


@dataclass(frozen=True)
class Choice:
    """One box of a filter: the value that stands in the address, and its label."""

    value: str
    label: str


@dataclass(frozen=True)
class Counts:
    """Trials of the study by state, after the filters, and the addresses of those that are scored and invalid."""

    confirmed: int = 0
    waiting: int = 0
    invalid: int = 0
    confirmed_href: str = ""
    invalid_href: str = ""


@dataclass(frozen=True)
class Content:
    """Everything on a study's results page.

    `read_at` is the moment whose state it shows; `since` tells what changed later where that moment was asked for.
    """

    slug: str
    name: str
    is_simulated: bool
    is_blinded: bool
    shows_names: bool
    data_version: str
    read_at: datetime
    counts: Counts
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    since: str = ""
    bars: tuple[RatePoint, ...] = ()
    effects: tuple[EffectLine, ...] = ()
    effects_missing: str = ""
    posterior: tuple[PosteriorLine, ...] = ()
    comparisons: tuple[ComparisonLine, ...] = ()
    comparison_test: str = ""
    comparison_note: str = ""
    primary: tuple[DeclaredLine, ...] = ()
    margins: tuple[DeclaredLine, ...] = ()
    paired: tuple[PairedLine, ...] = ()
    factor_names: tuple[str, str] = ("world", "behavior")
    cell_means: tuple[CellMean, ...] = ()
    stages: tuple[StageCurve, ...] = ()
    progress: tuple[ProgressLine, ...] = ()
    modes: tuple[ModeCounts, ...] = ()
    times: tuple[TimeCurve, ...] = ()
    notes: tuple[str, ...] = ()
    looks: LooksCard | None = None
    simulated: SimulatedCard | None = None
    exports: tuple[Choice, ...] = ()


class HiddenStudyError(Exception):
    """The viewer may not see the study's results; the message says why, for people."""


class UnknownStudyError(Exception):
    """There is no such study."""


class Queries(Protocol):
    """Where the numbers come from, for the current viewer. All raise HiddenStudyError and UnknownStudyError."""

    def choices(self, slug: str) -> tuple[tuple[Choice, ...], tuple[Choice, ...]]:
        """Conditions and arms to filter by."""
        ...

    def content(self, slug: str, filters: Filters) -> Content:
        """The page of a study."""
        ...

    def checks(self, slug: str, filters: Filters) -> tuple[str, ...]:
        """What may mislead (drift, operators, duplicates), in sentences; empty where nothing was found."""
        ...

    def sensitivity(self, slug: str, filters: Filters) -> tuple[str, ...]:
        """The effects by a logistic model with block and operator terms, in sentences; empty where names are hidden."""
        ...

    def data_version(self, slug: str, filters: Filters) -> str:
        """A short name of the numbers' state: the same name means the same numbers."""
        ...
