"""Intervals for one success rate: Wilson (default) and Clopper-Pearson (exact, never covers less than it says)."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from labapp.statistics.counts import DEFAULT_CONFIDENCE, check_confidence, count

Bounds = tuple[NDArray[np.float64], NDArray[np.float64]]


class Rate(NamedTuple):
    """A success rate with its interval; `rate`, `low` and `high` are None where there are no trials."""

    successes: int
    trials: int
    rate: float | None
    low: float | None
    high: float | None
    confidence: float
    method: str


def normal_quantile(confidence: float) -> float:
    """Two-sided normal quantile z with P(-z < Z < z) = confidence."""
    return float(special.ndtri(0.5 + check_confidence(confidence) / 2))


def wilson_bounds_at(z: ArrayLike, successes: ArrayLike, trials: ArrayLike) -> Bounds:
    """Wilson score bounds at a normal quantile `z`; arrays broadcast, nan where trials = 0.

    centre = (k + z^2/2) / (n + z^2), half width = z sqrt(k (n - k) / n + z^2/4) / (n + z^2).
    """
    z, k, n = (np.asarray(value, dtype=float) for value in (z, successes, trials))
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = (k + z**2 / 2) / (n + z**2)
        half = z * np.sqrt(k * (n - k) / n + z**2 / 4) / (n + z**2)
        low = np.where(k == 0, 0.0, centre - half)
        high = np.where(k == n, 1.0, centre + half)
    return np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan)


def wilson_bounds(successes: ArrayLike, trials: ArrayLike, confidence: float = DEFAULT_CONFIDENCE) -> Bounds:
    """Wilson score bounds, arrays in and out, nan where trials = 0, always within [0, 1]."""
    return wilson_bounds_at(normal_quantile(confidence), successes, trials)


def clopper_pearson_bounds(successes: ArrayLike, trials: ArrayLike, confidence: float = DEFAULT_CONFIDENCE) -> Bounds:
    """Exact bounds from beta quantiles, arrays in and out, nan where trials = 0."""
    k, n = np.asarray(successes, dtype=float), np.asarray(trials, dtype=float)
    tail = (1 - check_confidence(confidence)) / 2
    low = np.where(k == 0, 0.0, special.betaincinv(np.maximum(k, 1), np.maximum(n - k + 1, 1), tail))
    high = np.where(k == n, 1.0, special.betaincinv(k + 1, np.maximum(n - k, 1), 1 - tail))
    return np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan)


METHODS: dict[str, Callable[..., Bounds]] = {"wilson": wilson_bounds, "clopper-pearson": clopper_pearson_bounds}


def rate(successes: int, trials: int, confidence: float = DEFAULT_CONFIDENCE, method: str = "wilson") -> Rate:
    """Success rate with its interval.

    Args:
        successes, trials: the counts; 0 of 0 gives a `Rate` without bounds.
        confidence: coverage of the interval.
        method: "wilson" or "clopper-pearson".

    Raises:
        ValueError: on impossible counts or an unknown method.
    """
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}: one of {', '.join(METHODS)}")
    k, n = count(successes, trials)
    if n == 0:
        return Rate(0, 0, None, None, None, check_confidence(confidence), method)
    low, high = (as_float(bound) for bound in METHODS[method](k, n, confidence))
    return Rate(k, n, k / n, low, high, confidence, method)


def as_float(value: Any) -> float:
    """A zero-dimensional array as a plain float, so that results serialise."""
    return float(np.asarray(value))
