"""Paired trials (same seed or block): exact McNemar test and Tango's score interval of the difference."""

from collections.abc import Hashable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from labapp.statistics.counts import DEFAULT_CONFIDENCE, check_confidence
from labapp.statistics.proportions import Bounds, as_float, clopper_pearson_bounds, normal_quantile

BISECTIONS = 60
FEW_PAIRS = 20  # up to so many, Tango's interval covers more than it says (98 % at 10 pairs)


class Paired(NamedTuple):
    """Comparison of two arms over pairs.

    `n10` pairs succeeded only under arm 1, `n01` only under arm 2. `share` is n10 among the discordant pairs with its
    exact interval (None without any); `estimate`, `low`, `high` (rate 1 minus rate 2) need the number of pairs.
    """

    n10: int
    n01: int
    pairs: int | None
    p: float
    share: float | None
    share_low: float | None
    share_high: float | None
    estimate: float | None
    low: float | None
    high: float | None
    confidence: float


def mcnemar_p(n10: ArrayLike, n01: ArrayLike) -> NDArray[np.float64]:
    """Exact two-sided McNemar p-value: min(1, 2 P(X <= min(n10, n01))) with X ~ Bin(n10 + n01, 1/2).

    1 without discordant pairs (the continuity-corrected chi-square of other tools says 0 there).
    """
    a, b = np.asarray(n10), np.asarray(n01)
    return np.minimum(1.0, 2 * special.bdtr(np.minimum(a, b), a + b, 0.5))


def tango_bounds(n10: ArrayLike, n01: ArrayLike, pairs: ArrayLike, confidence: float = DEFAULT_CONFIDENCE) -> Bounds:
    """Tango (1998) score bounds of the paired difference p1 - p2, arrays broadcast, by bisection.

    The bounds are where the score statistic (n10 - n01 - n d) / sqrt(n (2 q + d (1 - d))) equals -z and z, with q the
    constrained estimate of the probability of a pair that only arm 2 wins.
    """
    z = normal_quantile(confidence)
    b, c, n = np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in (n10, n01, pairs)))
    estimate = (b - c) / n
    return _root(b, c, n, z, np.full_like(n, -1.0), estimate), _root(b, c, n, -z, estimate, np.full_like(n, 1.0))


def paired(n10: int, n01: int, pairs: int | None = None, confidence: float = DEFAULT_CONFIDENCE) -> Paired:
    """Compare two arms by their discordant pairs, and by their difference where the number of pairs is known.

    Raises:
        ValueError: on negative counts or fewer pairs than discordant ones.
    """
    check_confidence(confidence)
    if n10 < 0 or n01 < 0:
        raise ValueError(f"discordant pairs {n10} and {n01}: both are whole numbers from 0")
    discordant = n10 + n01
    if pairs is not None and pairs < max(discordant, 1):
        raise ValueError(f"{pairs} pairs, of which {discordant} discordant: there cannot be fewer pairs than those")
    share = share_low = share_high = estimate = low = high = None
    if discordant:
        share = n10 / discordant
        share_low, share_high = (as_float(bound) for bound in clopper_pearson_bounds(n10, discordant, confidence))
    if pairs is not None:
        estimate = (n10 - n01) / pairs
        low, high = (as_float(bound) for bound in tango_bounds(n10, n01, pairs, confidence))
    p = as_float(mcnemar_p(n10, n01))
    return Paired(n10, n01, pairs, p, share, share_low, share_high, estimate, low, high, confidence)


def discordant_pairs(first: Mapping[Hashable, bool], second: Mapping[Hashable, bool]) -> tuple[int, int, int]:
    """(n10, n01, pairs) of two arms' outcomes by pairing key; keys that only one arm has are left out."""
    keys = first.keys() & second.keys()
    n10 = sum(first[key] and not second[key] for key in keys)
    n01 = sum(second[key] and not first[key] for key in keys)
    return n10, n01, len(keys)


def _score(b: NDArray, c: NDArray, n: NDArray, d: NDArray) -> NDArray[np.float64]:
    a2 = 2 * n
    a1 = -b - c + (2 * n - b + c) * d
    a0 = -c * d * (1 - d)
    q = (np.sqrt(np.maximum(a1**2 - 4 * a2 * a0, 0)) - a1) / (2 * a2)
    variance = n * (2 * q + d * (1 - d))
    gap = b - c - n * d
    without_spread = np.where(gap > 0, np.inf, np.where(gap < 0, -np.inf, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(variance > 0, gap / np.sqrt(np.maximum(variance, 0)), without_spread)


def _root(b: NDArray, c: NDArray, n: NDArray, target: float, low: NDArray, high: NDArray) -> NDArray[np.float64]:
    """Where the score, which falls with d, crosses `target` between low and high."""
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        is_above = _score(b, c, n, middle) > target
        low, high = np.where(is_above, middle, low), np.where(is_above, high, middle)
    return (low + high) / 2
