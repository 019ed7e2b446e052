"""Equivalence (two one-sided tests) and non-inferiority of two success rates against a declared margin.

"Matches" needs a margin that was declared before the data. Each one-sided test is the score test of Farrington and
Manning (restricted likelihood under the margin), vectorised here.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from labapp.statistics.counts import count
from labapp.statistics.differences import newcombe_bounds
from labapp.statistics.proportions import as_float

EQUIVALENT, NON_INFERIOR, UNDECIDED = "equivalent", "non-inferior", "undecided"
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


def non_inferiority_p(k1: ArrayLike, n1: ArrayLike, k2: ArrayLike, n2: ArrayLike, margin: float) -> NDArray[np.float64]:
    """One-sided p-value of H0: p1 <= p2 - margin."""
    return special.ndtr(-margin_score(k1, n1, k2, n2, -margin))


def equivalence_p(k1: ArrayLike, n1: ArrayLike, k2: ArrayLike, n2: ArrayLike, margin: float) -> NDArray[np.float64]:
    """p-value of H0: |p1 - p2| >= margin: the larger of the two one-sided ones."""
    return np.maximum(non_inferiority_p(k1, n1, k2, n2, margin), non_inferiority_p(k2, n2, k1, n1, margin))


def equivalence(k1: int, n1: int, k2: int, n2: int, margin: float, alpha: float = 0.05) -> Verdict:
    """Whether two rates differ by less than the margin.

    Raises:
        ValueError: on impossible counts, an arm without trials, or a margin outside (0, 1).
    """
    _check(k1, n1, k2, n2, margin)
    p = as_float(equivalence_p(k1, n1, k2, n2, margin))
    return _verdict((k1, n1, k2, n2), margin, p, alpha, EQUIVALENT)


def non_inferiority(k1: int, n1: int, k2: int, n2: int, margin: float, alpha: float = 0.05) -> Verdict:
    """Whether rate 1 is worse than rate 2 by less than the margin; the one-sided level is alpha.

    Raises:
        ValueError: as `equivalence`.
    """
    _check(k1, n1, k2, n2, margin)
    p = as_float(non_inferiority_p(k1, n1, k2, n2, margin))
    return _verdict((k1, n1, k2, n2), margin, p, alpha, NON_INFERIOR)


def _verdict(counts: tuple[int, int, int, int], margin: float, p: float, alpha: float, claim: str) -> Verdict:
    k1, n1, k2, n2 = counts
    low, high = (as_float(bound) for bound in newcombe_bounds(*counts, 1 - 2 * alpha))
    inferior = as_float(special.ndtr(margin_score(k1, n1, k2, n2, -margin))) < alpha
    superior = as_float(special.ndtr(-margin_score(k1, n1, k2, n2, margin))) < alpha
    verdict = claim if p < alpha else INFERIOR if inferior else SUPERIOR if superior else UNDECIDED
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
