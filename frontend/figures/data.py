"""What the figures draw: numbers already computed, names already chosen (a blinded study passes codes)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

STAGES = ("approach", "contact", "lift", "carry", "release", "placed")


class RatePoint(NamedTuple):
    """Success rate of one arm in one group of trials, as a share; rate and bounds None without trials.

    `href`, here and below, is the address of the trials behind the number; a figure's marks open it.
    """

    arm: str
    group: str
    successes: int
    trials: int
    rate: float | None
    low: float | None
    high: float | None
    href: str = ""


class EffectPoint(NamedTuple):
    """An effect in points with its interval, in one group of trials (all, nominal, shifted)."""

    effect: str
    group: str
    points: float
    low: float
    high: float
    href: str = ""


class CellMean(NamedTuple):
    """Success rate of one cell of the 2 x 2 design, as a share with its interval."""

    a_level: str
    b_level: str
    rate: float
    low: float
    high: float
    href: str = ""


class StageCurve(NamedTuple):
    """Of an arm's trials, the share that reached each of STAGES or a later one."""

    arm: str
    trials: int
    reached: tuple[float, ...]
    hrefs: tuple[str, ...] = ()


class ModeCounts(NamedTuple):
    """An arm's failed trials by failure mode; `trials` counts the successful ones too."""

    arm: str
    trials: int
    modes: dict[str, int]
    hrefs: Mapping[str, str] = MappingProxyType({})


class TimeCurve(NamedTuple):
    """Of an arm's trials, the share that had succeeded by each time in seconds."""

    arm: str
    trials: int
    seconds: tuple[float, ...]
    share: tuple[float, ...]
    href: str = ""


class LookPath(NamedTuple):
    """A comparison at its planned looks: z at those reached (None: not judged), and the boundaries, as far as they go.

    `crossed_block` is the block of the look that crossed.
    """

    label: str
    look_blocks: tuple[int, ...]
    boundaries: tuple[float, ...]
    zs: tuple[float | None, ...]
    crossed_block: int | None


class CoursePath(NamedTuple):
    """A comparison's running estimate and confidence sequence, in points, along its blocks."""

    label: str
    blocks: tuple[int, ...]
    estimates: tuple[float, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]
    decided_at: int | None


class RatePair(NamedTuple):
    """One arm's simulated and real success in the same group of conditions."""

    simulated: RatePoint
    real: RatePoint
