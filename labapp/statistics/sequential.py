"""Looking before the end: group-sequential boundaries and anytime-valid betting confidence sequences.

Only here may a study be peeked at; `looks` judges blocks of any number of arms by them.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, special

SHAPES = ("obrien-fleming", "pocock")
GRID = 801
REACH = 10.0  # standard deviations within which a boundary is sought
BET_SHARE = 0.5  # largest share of the capital that one bet may lose


def spent(alpha: float, fraction: ArrayLike, shape: str = "obrien-fleming") -> NDArray[np.float64]:
    """Type I error that may be spent by an information fraction (Lan & DeMets 1983).

    Raises:
        ValueError: on an unknown shape or a fraction outside (0, 1].
    """
    t = np.asarray(fraction, dtype=float)
    if shape not in SHAPES:
        raise ValueError(f"unknown shape {shape!r}: one of {', '.join(SHAPES)}")
    if np.any(t <= 0) or np.any(t > 1):
        raise ValueError("information fractions lie above 0 and up to 1")
    if shape == "pocock":
        return alpha * np.log(1 + (np.e - 1) * t)
    return 4 * special.ndtr(special.ndtri(alpha / 4) / np.sqrt(t))  # each side spends its half of alpha


def boundaries(fractions: Sequence[float], alpha: float = 0.05, shape: str = "obrien-fleming") -> list[float]:
    """Two-sided z boundaries at the planned looks, by recursive integration of the stopped Brownian motion.

    Args:
        fractions: information (trials so far / planned trials) at each look, rising, the last at most 1.

    Raises:
        ValueError: where the fractions do not rise.
    """
    if any(b <= a for a, b in pairwise(fractions)):
        raise ValueError(f"information fractions rise from look to look, got {', '.join(f'{t:g}' for t in fractions)}")
    errors = np.diff(np.concatenate([[0.0], spent(alpha, fractions, shape)]))
    points, mass = np.zeros(1), np.ones(1)  # the motion starts at 0; mass is density times integration weight
    result, before = [], 0.0
    for t, error in zip(fractions, errors, strict=True):
        step = float(np.sqrt(t - before))
        edge = float(REACH * np.sqrt(t))  # kept where so little may be spent that no boundary within reach spends it
        if _excess(edge, step, points, mass, error) < 0:
            edge = float(optimize.brentq(_excess, 0.0, edge, args=(step, points, mass, error)))
        result.append(float(edge / np.sqrt(t)))
        inside, weights = simpson(edge)
        moves = np.exp(-0.5 * ((inside[:, None] - points[None, :]) / step) ** 2) / (step * np.sqrt(2 * np.pi))
        points, mass, before = inside, weights * (moves @ mass), t
    return result


def _excess(edge: float, step: float, points: NDArray, mass: NDArray, error: float) -> float:
    """Probability of stepping over +-edge from where the motion is, less what may be spent."""
    over = special.ndtr((points - edge) / step) + special.ndtr((-edge - points) / step)
    return float(mass @ over) - error


def simpson(edge: float, grid: int = GRID) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points between -edge and +edge and Simpson's weights; `grid` is odd."""
    points = np.linspace(-edge, edge, grid)
    weights = np.ones(grid)
    weights[1:-1:2], weights[2:-1:2] = 4, 2
    return points, weights * (points[1] - points[0]) / 3


def pooled_z(k1: ArrayLike, n1: ArrayLike, k2: ArrayLike, n2: ArrayLike) -> NDArray[np.float64]:
    """Pooled score statistic of p1 = p2; 0 where every trial ended alike. Arrays broadcast."""
    k1, n1, k2, n2 = (np.asarray(value, dtype=float) for value in (k1, n1, k2, n2))
    p = (k1 + k2) / (n1 + n2)
    variance = p * (1 - p) * (1 / n1 + 1 / n2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(variance > 0, (k1 / n1 - k2 / n2) / np.sqrt(variance), 0.0)


def log_capital(values: ArrayLike, mean: ArrayLike, alpha: float) -> NDArray[np.float64]:
    """Log of the hedged capital of betting against a mean, after each value (Waudby-Smith & Ramdas 2024).

    While the mean is true the capital is a martingale from 1: it reaches 1/alpha with probability at most alpha, ever.

    Args:
        values: shape (..., time), within [0, 1].
        mean: the hypothesis, broadcast against values.
        alpha: level that the bets are tuned for.

    Returns:
        Shape (..., time): log max(K+, K-)/2, K+ betting on more and K- on less than `mean`.
    """
    x, m = np.asarray(values, dtype=float), np.asarray(mean, dtype=float)
    bets = _bets(x, alpha)
    with np.errstate(divide="ignore"):
        up = np.minimum(bets, BET_SHARE / m)
        down = np.minimum(bets, BET_SHARE / (1 - m))
    rise = np.cumsum(np.log1p(up * (x - m)), axis=-1)
    fall = np.cumsum(np.log1p(-down * (x - m)), axis=-1)
    return np.maximum(rise, fall) - np.log(2)


def _bets(x: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
    """Predictable bets: each uses only the values before it."""
    t = np.arange(1, x.shape[-1] + 1)
    mean = (0.5 + np.cumsum(x, axis=-1)) / (t + 1)
    variance = (0.25 + np.cumsum((x - mean) ** 2, axis=-1)) / (t + 1)
    before = np.concatenate([np.full((*x.shape[:-1], 1), 0.25), variance[..., :-1]], axis=-1)
    return np.sqrt(2 * np.log(2 / alpha) / (before * t * np.log(1 + t)))


def betting_sequence(values: ArrayLike, alpha: float = 0.05, grid: int = 1001) -> tuple[NDArray, NDArray]:
    """Confidence sequence of a mean in [0, 1]: bounds after each value that all hold together with 1 - alpha.

    Args:
        values: shape (time,).

    Returns:
        Lower and upper bounds, shape (time,), never widening; rounded outward to the grid.
    """
    means = np.linspace(0, 1, grid)
    stays = log_capital(np.asarray(values, dtype=float)[None, :], means[:, None], alpha) < np.log(1 / alpha)
    stays = np.logical_and.accumulate(stays, axis=1)
    step = means[1]
    low = np.where(stays.any(axis=0), means[np.argmax(stays, axis=0)] - step, np.nan)
    high = np.where(stays.any(axis=0), means[grid - 1 - np.argmax(stays[::-1], axis=0)] + step, np.nan)
    return np.clip(low, 0, 1), np.clip(high, 0, 1)
