"""Linear contrasts of independent success rates, sum_i c_i p_i, with MOVER intervals on Wilson bounds.

MOVER (method of variance estimates recovery, Zou & Donner 2008) is Newcombe's hybrid interval for any contrast: with
c = (1, -1) it *is* Newcombe's. Main effects and interaction of a factorial are such contrasts, so one interval serves
the whole results page, and a p-value is read off the same interval (the level at which it first touches zero).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from labapp.statistics.counts import DEFAULT_CONFIDENCE
from labapp.statistics.proportions import Bounds, as_float, normal_quantile, wilson_bounds_at

LARGEST_Z = 12.0
BISECTIONS = 50


class Contrast(NamedTuple):
    """Estimate of a contrast with its interval (as a share, not points) and two-sided p-value."""

    estimate: float
    low: float
    high: float
    p: float
    confidence: float


def mover_bounds_at(z: ArrayLike, coefficients: ArrayLike, successes: ArrayLike, trials: ArrayLike) -> Bounds:
    """MOVER bounds of sum_i c_i p_i at normal quantile `z`.

    Args:
        z: scalar or shape (...,).
        coefficients, successes, trials: shape (..., cells), broadcast; cells with coefficient 0 may be empty.

    Returns:
        Lower and upper bounds, shape (...,); nan where a cell that counts has no trials.
    """
    c, k, n = (np.asarray(value, dtype=float) for value in (coefficients, successes, trials))
    low, high = wilson_bounds_at(np.asarray(z, dtype=float)[..., None], k, n)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = k / n
    p, low, high = (np.where(c == 0, 0.0, value) for value in (p, low, high))
    estimate = np.sum(c * p, axis=-1)
    down = np.sum((c * p - np.minimum(c * low, c * high)) ** 2, axis=-1)
    up = np.sum((np.maximum(c * low, c * high) - c * p) ** 2, axis=-1)
    return estimate - np.sqrt(down), estimate + np.sqrt(up)


def mover_bounds(
    coefficients: ArrayLike, successes: ArrayLike, trials: ArrayLike, confidence: float = DEFAULT_CONFIDENCE
) -> Bounds:
    """MOVER bounds of sum_i c_i p_i at a confidence, shapes as in `mover_bounds_at`."""
    return mover_bounds_at(normal_quantile(confidence), coefficients, successes, trials)


def contrast_p(coefficients: ArrayLike, successes: ArrayLike, trials: ArrayLike) -> NDArray[np.float64]:
    """Two-sided p-value by inversion: 1 - the largest confidence whose MOVER interval still excludes zero."""
    c, k, n = np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in (coefficients, successes, trials)))
    small = np.zeros(c.shape[:-1])
    large = np.full(c.shape[:-1], LARGEST_Z)
    for _ in range(BISECTIONS):
        middle = (small + large) / 2
        low, high = mover_bounds_at(middle, c, k, n)
        excludes_zero = (low > 0) | (high < 0)
        small, large = np.where(excludes_zero, middle, small), np.where(excludes_zero, large, middle)
    return 2 * special.ndtr(-small)


def contrast(
    coefficients: ArrayLike, successes: ArrayLike, trials: ArrayLike, confidence: float = DEFAULT_CONFIDENCE
) -> Contrast | None:
    """One contrast with interval and p-value, shape (cells,) each; None where a cell that counts has no trials."""
    c, k, n = (np.asarray(value, dtype=float) for value in (coefficients, successes, trials))
    counts = c != 0
    if np.any(n[counts] == 0):
        return None
    c, k, n = c[counts], k[counts], n[counts]
    low, high = mover_bounds(c, k, n, confidence)
    return Contrast(
        as_float(np.sum(c * k / n)), as_float(low), as_float(high), as_float(contrast_p(c, k, n)), confidence
    )
