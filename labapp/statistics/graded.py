"""Graded progress: comparing how far trials got, not only whether they succeeded."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from labapp.statistics.counts import DEFAULT_CONFIDENCE, Count
from labapp.statistics.proportions import Rate, as_float, normal_quantile, rate

SMALLEST_FOR_TEST = 2
EDGE = 1e-12


class Graded(NamedTuple):
    """Probability that a trial of arm 1 gets further than one of arm 2 (ties count half), with interval and p-value."""

    superiority: float
    low: float
    high: float
    p: float
    confidence: float


def stage_ranks(stages: Sequence[str], order: Sequence[str]) -> NDArray[np.int64]:
    """Furthest stages as numbers.

    Raises:
        ValueError: on a stage that is not in `order`.
    """
    ranks = {stage: rank for rank, stage in enumerate(order)}
    unknown = sorted({stage for stage in stages if stage not in ranks})
    if unknown:
        raise ValueError(f"unknown stage {', '.join(unknown)}: one of {', '.join(order)}")
    return np.array([ranks[stage] for stage in stages], dtype=np.int64)


def reached(stages: Sequence[str], order: Sequence[str], confidence: float = DEFAULT_CONFIDENCE) -> dict[str, Rate]:
    """Share of trials that reached each stage or a later one, with Wilson bounds."""
    ranks = stage_ranks(stages, order)
    return {stage: rate(int(np.sum(ranks >= i)), len(ranks), confidence) for i, stage in enumerate(order)}


def compare_progress(
    first: NDArray[np.int64], second: NDArray[np.int64], confidence: float = DEFAULT_CONFIDENCE
) -> Graded | None:
    """Brunner-Munzel comparison of two arms' furthest stages; unequal spreads and ties are allowed.

    The interval of P(X > Y) + P(X = Y) / 2 is built on the logit scale, so it stays within [0, 1]. None with fewer than
    two trials on a side. Where every trial of one arm got further than every one of the other, the interval is that of
    a Wilson rate on the smaller arm's size, which is conservative.
    """
    if min(len(first), len(second)) < SMALLEST_FOR_TEST:
        return None
    superiority, error = _superiority(first, second)
    if error < EDGE:
        return _without_spread(superiority, min(len(first), len(second)), confidence)
    p = as_float(stats.brunnermunzel(first, second).pvalue)
    logit = np.log(superiority / (1 - superiority))
    half = normal_quantile(confidence) * error / (superiority * (1 - superiority))
    low, high = (as_float(1 / (1 + np.exp(-(logit + side * half)))) for side in (-1, 1))
    return Graded(superiority, low, high, p, confidence)


def _superiority(first: NDArray[np.int64], second: NDArray[np.int64]) -> tuple[float, float]:
    """P(X > Y) + P(X = Y)/2 and its standard error from placements."""
    wins = (first[:, None] > second[None, :]) + 0.5 * (first[:, None] == second[None, :])
    variance = wins.mean(axis=1).var(ddof=1) / len(first) + wins.mean(axis=0).var(ddof=1) / len(second)
    return as_float(wins.mean()), as_float(np.sqrt(variance))


def _without_spread(superiority: float, trials: int, confidence: float) -> Graded:
    if abs(superiority - 0.5) < EDGE:
        return Graded(0.5, *_wilson_around_half(trials, confidence), 1.0, confidence)
    edge = rate(round(superiority * trials), trials, confidence)
    p = 2.0 ** (1 - trials)  # sign test on the smaller arm: never smaller than what the data can support
    return Graded(superiority, float(edge.low or 0.0), float(edge.high or 1.0), min(1.0, p), confidence)


def _wilson_around_half(trials: int, confidence: float) -> tuple[float, float]:
    half = Count(trials, 2 * trials)
    bounds = rate(*half, confidence)
    return float(bounds.low or 0.0), float(bounds.high or 1.0)
