"""How well one success rate foretells another over several policies: correlation, and how badly the order is broken.

SIMPLER (arXiv:2405.05941) proposes both for simulated against real evaluation.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from labapp.statistics.counts import DEFAULT_CONFIDENCE
from labapp.statistics.proportions import normal_quantile

FEWEST = 3


class Agreement(NamedTuple):
    """Over n policies: Pearson's r with Fisher's interval, mean maximum rank violation (share).

    All None below FEWEST policies; r None where one side has no spread, its bounds None below four policies too.
    """

    policies: int
    r: float | None
    low: float | None
    high: float | None
    rank_violation: float | None
    confidence: float


def agreement(predicted: ArrayLike, real: ArrayLike, confidence: float = DEFAULT_CONFIDENCE) -> Agreement:
    """How well predicted rates (n,) agree with real ones (n,).

    Raises:
        ValueError: the two have different lengths.
    """
    x, y = np.asarray(predicted, float), np.asarray(real, float)
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError(f"rates of the same policies are needed, got shapes {x.shape} and {y.shape}")
    if len(x) < FEWEST:
        return Agreement(len(x), None, None, None, None, confidence)
    r = pearson(x, y)
    low, high = fisher_bounds(r, len(x), confidence) if r is not None else (None, None)
    return Agreement(len(x), r, low, high, mean_maximum_rank_violation(x, y), confidence)


def pearson(x: ArrayLike, y: ArrayLike) -> float | None:
    """Pearson's r; None where one side has no spread."""
    a, b = (np.asarray(v, float) - np.mean(v) for v in (x, y))
    scale = math.sqrt(float(a @ a) * float(b @ b))
    return float(np.clip(a @ b / scale, -1, 1)) if scale > 1e-12 else None


def fisher_bounds(r: float, n: int, confidence: float = DEFAULT_CONFIDENCE) -> tuple[float | None, float | None]:
    """tanh(atanh(r) -+ z / sqrt(n - 3)); None below four pairs and at r = -+1, where it says nothing."""
    if n < 4 or abs(r) >= 1 - 1e-12:
        return None, None
    half = normal_quantile(confidence) / math.sqrt(n - 3)
    return math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)


def mean_maximum_rank_violation(predicted: ArrayLike, real: ArrayLike) -> float:
    """1/n sum_i max_j |y_i - y_j| where x orders i and j otherwise than y does, as a share; 0 for the same order."""
    x, y = np.asarray(predicted, float), np.asarray(real, float)
    is_violated = (x[:, None] < x) != (y[:, None] < y)
    return float(np.where(is_violated, np.abs(y[:, None] - y), 0.0).max(axis=1).mean())
