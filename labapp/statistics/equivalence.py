"""Equivalence (two one-sided tests) and non-inferiority of two success rates against a declared margin.

"Matches" needs a margin that was declared before the data. Each one-sided test ranks the outcomes by the score of
Farrington and Manning (restricted likelihood under the margin) and is exact and unconditional, as Boschloo's is for no
difference: the score's normal tail alone would claim too often (up to 6.6 % instead of 5 % at 26 trials an arm).
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from labapp.statistics.counts import count
from labapp.statistics.differences import LARGEST_TABLE, largest_tail, newcombe_bounds
from labapp.statistics.proportions import as_float

EQUIVALENT, NON_INFERIOR, UNDECIDED = "equivalent", "non-inferior", "undecided"
NUISANCE = 200  # steps of the grid of rates
INFERIOR, SUPERIOR = "worse by more than the margin", "better by more than the margin"


class Verdict(NamedTuple):
    """Outcome of an equivalence or non-inferiority test with its interval at confidence 1 - 2 alpha."""

    verdict: str
    margin: float
    estimate: float
    low: float
    high: float
    p: float
    alpha: float


def margin_score(k1: ArrayLike, n1: ArrayLike, k2: ArrayLike, n2: ArrayLike, margin: float) -> NDArray[np.float64]:
    """Score statistic of H0: p1 - p2 = margin; arrays broadcast.

    z = (p1 - p2 - margin) / sqrt(r1 (1 - r1) / n1 + r2 (1 - r2) / n2), with r1 = r2 + margin the restricted maximum
    likelihood rates (closed form of the cubic, Farrington & Manning 1990).
    """
    k1, n1, k2, n2 = np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in (k1, n1, k2, n2)))
    p1, p2 = k1 / n1, k2 / n2
    theta = n2 / n1
    a = 1 + theta
    b = -(1 + theta + p1 + theta * p2 + margin * (theta + 2))
    c = margin**2 + margin * (2 * p1 + theta + 1) + p1 + theta * p2
    d = -p1 * margin * (1 + margin)
    v = b**3 / (3 * a) ** 3 - b * c / (6 * a**2) + d / (2 * a)
    u = np.where(v < 0, -1.0, 1.0) * np.sqrt(np.maximum(b**2 / (3 * a) ** 2 - c / (3 * a), 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        angle = np.where(u == 0, 0.0, np.clip(v / u**3, -1, 1))
    w = (np.pi + np.arccos(angle)) / 3
    r1 = np.clip(2 * u * np.cos(w) - b / (3 * a), max(margin, 0), min(1 + margin, 1))
    r2 = np.clip(r1 - margin, 0, 1)
    variance = r1 * (1 - r1) / n1 + r2 * (1 - r2) / n2
    gap = np.round(p1 - p2 - margin, 12)
    without_spread = np.where(gap > 0, np.inf, np.where(gap < 0, -np.inf, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(variance > 1e-14, gap / np.sqrt(variance), without_spread)


@lru_cache(maxsize=4096)
def above_p(k1: int, n1: int, k2: int, n2: int, delta: float) -> float:
    """Exact one-sided p-value of H0: p1 - p2 <= delta.

    The largest probability, over a grid of common nuisance rates with p1 - p2 = delta, of an outcome whose score is as
    high. With more than LARGEST_TABLE outcomes the score's own normal tail: at that size the two hardly differ.
    """
    score = margin_score(k1, n1, k2, n2, delta)
    if n1 * n2 > LARGEST_TABLE:
        return as_float(special.ndtr(-score))
    as_high = _scores(n1, n2, delta) >= np.round(score, 12)
    first, second = _chances(n1, n2, delta)
    return min(1.0, as_float(np.max(np.sum((first @ as_high) * second, axis=1))))


def above_table(n1: int, n2: int, delta: float) -> NDArray[np.float64]:
    """`above_p` of every outcome at once, shape (n1 + 1, n2 + 1), for exact power and levels."""
    return np.minimum(1.0, largest_tail(-_scores(n1, n2, delta), *_chances(n1, n2, delta)))


def non_inferiority_table(n1: int, n2: int, margin: float) -> NDArray[np.float64]:
    """p-values of H0: p1 <= p2 - margin, shape (n1 + 1, n2 + 1)."""
    return above_table(n1, n2, -margin)


def equivalence_table(n1: int, n2: int, margin: float) -> NDArray[np.float64]:
    """p-values of H0: |p1 - p2| >= margin, shape (n1 + 1, n2 + 1): the larger of the two one-sided ones."""
    return np.maximum(above_table(n1, n2, -margin), above_table(n2, n1, -margin).T)


def _scores(n1: int, n2: int, delta: float) -> NDArray[np.float64]:
    scores = margin_score(np.arange(n1 + 1)[:, None], n1, np.arange(n2 + 1)[None, :], n2, delta)
    return np.round(scores, 12)


@lru_cache(maxsize=64)
def _chances(n1: int, n2: int, delta: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Probabilities of all counts of each arm at rates with p1 - p2 = delta, shapes (rates, n + 1)."""
    p2 = np.linspace(max(0.0, -delta), min(1.0, 1.0 - delta), NUISANCE + 1)[:, None]
    p1 = np.clip(p2 + delta, 0, 1)
    return stats.binom.pmf(np.arange(n1 + 1), n1, p1), stats.binom.pmf(np.arange(n2 + 1), n2, p2)


def equivalence(k1: int, n1: int, k2: int, n2: int, margin: float, alpha: float = 0.05) -> Verdict:
    """Whether two rates differ by less than the margin.

    Raises:
        ValueError: on impossible counts, an arm without trials, or a margin outside (0, 1).
    """
    _check(k1, n1, k2, n2, margin)
    p = max(above_p(k1, n1, k2, n2, -margin), above_p(k2, n2, k1, n1, -margin))
    return _verdict((k1, n1, k2, n2), margin, p, alpha, EQUIVALENT)


def non_inferiority(k1: int, n1: int, k2: int, n2: int, margin: float, alpha: float = 0.05) -> Verdict:
    """Whether rate 1 is worse than rate 2 by less than the margin; the one-sided level is alpha.

    Raises:
        ValueError: as `equivalence`.
    """
    _check(k1, n1, k2, n2, margin)
    p = above_p(k1, n1, k2, n2, -margin)
    return _verdict((k1, n1, k2, n2), margin, p, alpha, NON_INFERIOR)


def _verdict(counts: tuple[int, int, int, int], margin: float, p: float, alpha: float, claim: str) -> Verdict:
    k1, n1, k2, n2 = counts
    low, high = (as_float(bound) for bound in newcombe_bounds(*counts, 1 - 2 * alpha))
    if p < alpha:
        verdict = claim
    elif above_p(k2, n2, k1, n1, margin) < alpha:
        verdict = INFERIOR
    else:
        verdict = SUPERIOR if above_p(*counts, margin) < alpha else UNDECIDED
    return Verdict(verdict, margin, k1 / n1 - k2 / n2, low, high, p, alpha)


def _check(k1: int, n1: int, k2: int, n2: int, margin: float) -> None:
    if not 0 < margin < 1:
        raise ValueError(f"margin {margin:g} is not between 0 and 1 (a share: 0.1 is ten points)")
    for name, trials in (
        ("first arm", count(k1, n1, "first arm").trials),
        ("second arm", count(k2, n2, "second arm").trials),
    ):
        if trials == 0:
            raise ValueError(f"{name}: no trials, so nothing can be called equivalent")
