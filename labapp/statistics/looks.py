"""Judging a study at the moments its plan allows: at a few planned looks, or after every block.

A block holds one trial of each arm. Looks count *finished* blocks, from the first on without a gap, so a look rests on
exactly the data up to its block, and who repeats it later gets the same verdict.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from labapp.statistics.contrasts import contrast_p
from labapp.statistics.factorial import EFFECTS
from labapp.statistics.sequential import betting_sequence, boundaries, pooled_z

GROUP_SEQUENTIAL, ANYTIME = "group-sequential", "anytime"
SMALLEST_P = 1e-300  # keeps z finite


@dataclass(frozen=True)
class Rule:
    """When a study may be judged, and at which level.

    Args:
        kind: GROUP_SEQUENTIAL or ANYTIME.
        alpha: two-sided level.
        is_split: whether all comparisons share alpha (Holm: a decided one hands its share on) or each has all of it.
        blocks: planned blocks; 0 where an anytime rule has no plan of them.
        looks, shape: of the group-sequential rule.
        reserved: comparisons that are not looked at here but keep their share of the level.

    Raises:
        ValueError: on an unknown kind, or a group-sequential rule without looks or planned blocks.
    """

    kind: str
    alpha: float = 0.05
    is_split: bool = True
    blocks: int = 0
    looks: int = 1
    shape: str = "obrien-fleming"
    reserved: int = 0

    def __post_init__(self) -> None:
        if self.kind not in (GROUP_SEQUENTIAL, ANYTIME):
            raise ValueError(f"unknown rule {self.kind!r}: {GROUP_SEQUENTIAL} or {ANYTIME}")
        if self.kind == GROUP_SEQUENTIAL and (self.looks < 1 or self.blocks < 1):
            raise ValueError(f"{self.looks} looks at {self.blocks} planned blocks: both are at least 1")

    @property
    def look_blocks(self) -> list[int]:
        """Blocks after which the plan looks."""
        return planned_looks(self.blocks, self.looks) if self.kind == GROUP_SEQUENTIAL else []

    def level(self, comparisons: int) -> float:
        """Level of each of so many comparisons that are still open."""
        return self.alpha / max(1, comparisons + self.reserved) if self.is_split else self.alpha

    def edges(self, comparisons: int) -> tuple[float, ...]:
        """z boundary at every look while so many comparisons are open."""
        return look_edges(tuple(self.look_blocks), self.level(comparisons), self.shape)


class Comparison(NamedTuple):
    """A contrast of arms: `coefficients` has one number per arm and sums to 0; `up` and `down` word its sign."""

    key: str
    label: str
    coefficients: tuple[float, ...]
    up: str
    down: str


class Look(NamedTuple):
    """One comparison at one look that was reached: z and estimate (a share) from the blocks up to it, and its boundary.

    z and estimate are None where an arm lacks a trial in one of these blocks: it is then not judged.
    """

    number: int
    block: int
    fraction: float
    z: float | None
    estimate: float | None
    boundary: float
    is_crossed: bool


class Judged(NamedTuple):
    """A comparison at its looks, up to the one that decided it."""

    comparison: Comparison
    looks: tuple[Look, ...]

    @property
    def crossed(self) -> Look | None:
        """The look at which the boundary was crossed."""
        return next((look for look in self.looks if look.is_crossed), None)

    @property
    def is_lost(self) -> bool:
        """Whether an arm's missing trials keep it from ever being judged again."""
        return bool(self.looks) and self.looks[-1].z is None


class Course(NamedTuple):
    """A comparison's confidence sequence along the blocks that hold all its arms; shares, not points.

    `decided_at` is the first block whose interval excluded zero.
    """

    comparison: Comparison
    level: float
    blocks: tuple[int, ...]
    estimates: tuple[float, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]
    decided_at: int | None


def planned_looks(blocks: int, looks: int) -> list[int]:
    """Blocks after which the data are looked at, evenly spread; fewer looks where there are fewer blocks."""
    return sorted({max(1, round(look * blocks / looks)) for look in range(1, looks + 1)})


@lru_cache(maxsize=512)
def look_edges(blocks: tuple[int, ...], alpha: float, shape: str) -> tuple[float, ...]:
    """z boundaries of looks after these blocks, the last of which is the planned end."""
    return tuple(boundaries([block / blocks[-1] for block in blocks], alpha, shape))


def pair_comparisons(arms: Sequence[str], names: Mapping[str, str] | None = None) -> list[Comparison]:
    """Every pair of arms, in their order."""
    return [pair_comparison(arms, first, second, names) for first, second in combinations(arms, 2)]


def pair_comparison(arms: Sequence[str], first: str, second: str, names: Mapping[str, str] | None = None) -> Comparison:
    """The first arm minus the second.

    Raises:
        ValueError: naming what is no arm, or an arm named twice.
    """
    strange = [arm for arm in (first, second) if arm not in arms]
    if strange or first == second:
        raise ValueError(f"{first}:{second} names no two of the arms {', '.join(arms)}")
    one, other = ((names or {}).get(arm, arm) for arm in (first, second))
    coefficients = tuple(float(arm == first) - float(arm == second) for arm in arms)
    wins = (f"{one} succeeded more often than {other}", f"{other} succeeded more often than {one}")
    return Comparison(f"{first}:{second}", f"{one} − {other}", coefficients, *wins)


def effect_comparison(arms: Sequence[str], cells: Sequence[Sequence[str]], effect: str, label: str) -> Comparison:
    """A main effect or the interaction, from the arms of each cell in the order of `factorial.CELLS`.

    Raises:
        ValueError: where a cell has no arm.
    """
    if len(cells) != len(EFFECTS[effect]) or not all(cells):
        raise ValueError(f"{effect} needs an arm in each of the four cells of a 2 x 2 design")
    share = {arm: c / len(cell) for c, cell in zip(EFFECTS[effect], cells, strict=True) for arm in cell}
    words = (f"{label} raised success", f"{label} lowered success")
    if effect == "interaction":
        words = ("together the factors do more than apart", "together the factors do less than apart")
    return Comparison(effect, label, tuple(float(share.get(arm, 0.0)) for arm in arms), *words)


def finished_blocks(outcomes: ArrayLike, is_needed: ArrayLike) -> int:
    """Blocks, from the first on without a gap, in which every needed arm has its outcome.

    Args:
        outcomes: shape (blocks, arms): 1 success, 0 failure, nan without a valid trial.
        is_needed: shape (arms,): False for a withdrawn arm, whose open trials are never run.
    """
    waits = np.any(np.isnan(np.asarray(outcomes, dtype=float)) & np.asarray(is_needed, dtype=bool), axis=1)
    return int(np.argmax(waits)) if waits.any() else len(waits)


def judge_looks(outcomes: ArrayLike, comparisons: Sequence[Comparison], rule: Rule) -> list[Judged]:
    """Every comparison at every look that the finished blocks reach.

    With a split level this is Holm's procedure at each look: what is decided hands its share to what is open (Maurer &
    Bretz 2013), and stays decided.

    Args:
        outcomes: shape (finished blocks, arms).
    """
    table = np.asarray(outcomes, dtype=float)
    found: dict[str, list[Look]] = {c.key: [] for c in comparisons}
    still_open = {c.key: c for c in comparisons}
    for index, block in enumerate(rule.look_blocks):
        if block > len(table) or not still_open:
            break
        scores = {key: score(table[:block], c.coefficients) for key, c in still_open.items()}
        for key, boundary, is_crossed in _decide(scores, rule, index):
            z, estimate = scores[key]
            found[key].append(Look(index + 1, block, block / rule.blocks, z, estimate, boundary, is_crossed))
            if is_crossed:
                del still_open[key]
    return [Judged(c, tuple(found[c.key])) for c in comparisons]


def _decide(
    scores: Mapping[str, tuple[float | None, float | None]], rule: Rule, index: int
) -> list[tuple[str, float, bool]]:
    """(key, boundary it was held against, crossed?) of every open comparison at one look, by Holm's steps."""
    decided: list[tuple[str, float, bool]] = []
    left = list(scores)
    while left:
        boundary = rule.edges(len(left))[index]
        crossing = [key for key in left if (z := scores[key][0]) is not None and abs(z) >= boundary]
        if not crossing:
            return [*decided, *((key, boundary, False) for key in left)]
        decided += [(key, boundary, True) for key in crossing]
        left = [key for key in left if key not in crossing]
    return decided


def score(outcomes: NDArray[np.float64], coefficients: Sequence[float]) -> tuple[float | None, float | None]:
    """z and estimate of a contrast over these blocks; (None, None) where an arm of it lacks a trial.

    Two arms: the pooled score. Effects: the z of the p-value that the results page shows.
    """
    c = np.asarray(coefficients, dtype=float)
    table = outcomes[:, c != 0]
    if not len(table) or np.isnan(table).any():
        return None, None
    c, k, n = c[c != 0], table.sum(axis=0), len(table)
    estimate = float(c @ k / n)
    if len(c) == 2:
        return float(np.sign(c[0]) * pooled_z(k[0], n, k[1], n)), estimate
    return float(contrast_z(c, k, n)), estimate


def contrast_z(coefficients: ArrayLike, successes: ArrayLike, trials: ArrayLike) -> NDArray[np.float64]:
    """Signed z of a contrast: the normal quantile of its two-sided p-value. Shapes as in `contrasts.contrast_p`."""
    c, k, n = (np.asarray(value, dtype=float) for value in (coefficients, successes, trials))
    p = np.maximum(contrast_p(c, k, n), SMALLEST_P)
    return np.sign(np.sum(c * k / n, axis=-1)) * -special.ndtri(p / 2)


def follow(outcomes: ArrayLike, comparisons: Sequence[Comparison], rule: Rule) -> list[Course]:
    """The confidence sequence of every comparison, all holding together at every block."""
    level = rule.level(len(comparisons))
    table = np.asarray(outcomes, dtype=float)
    return [_course(table, comparison, level) for comparison in comparisons]


def _course(table: NDArray[np.float64], comparison: Comparison, level: float) -> Course:
    c = np.asarray(comparison.coefficients, dtype=float)
    present = ~np.isnan(table[:, c != 0]).any(axis=1)
    if not present.any():
        return Course(comparison, level, (), (), (), (), None)
    values = table[present][:, c != 0] @ c[c != 0]
    span = float(c[c > 0].sum())  # the contrast of one block lies within -span and span
    low, high = (span * (2 * bound - 1) for bound in betting_sequence((values / span + 1) / 2, level))
    blocks = np.flatnonzero(present) + 1
    excludes = (low > 0) | (high < 0)
    decided_at = int(blocks[np.argmax(excludes)]) if excludes.any() else None
    means = np.cumsum(values) / np.arange(1, len(values) + 1)
    estimates, lows, highs = (tuple(series.tolist()) for series in (means, low, high))
    return Course(comparison, level, tuple(blocks.tolist()), estimates, lows, highs, decided_at)
