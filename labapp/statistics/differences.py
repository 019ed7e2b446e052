"""Difference of two independent success rates: Newcombe's interval, Barnard's and Boschloo's exact tests."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from labapp.statistics.counts import DEFAULT_CONFIDENCE, check_confidence, count
from labapp.statistics.proportions import Bounds, as_float, wilson_bounds

EXACT_TESTS = ("boschloo", "barnard", "fisher")
LARGEST_TABLE = 250_000  # outcomes (n1 x n2) that an unconditional test runs through; above, Fisher's test stands in


class Difference(NamedTuple):
    """Rate 1 minus rate 2 as a share; estimate, bounds and `p` are None where one side has no trials."""

    estimate: float | None
    low: float | None
    high: float | None
    p: float | None
    test: str
    confidence: float


def newcombe_bounds(
    successes_1: ArrayLike,
    trials_1: ArrayLike,
    successes_2: ArrayLike,
    trials_2: ArrayLike,
    confidence: float = DEFAULT_CONFIDENCE,
) -> Bounds:
    """Newcombe (1998, method 10) bounds of p1 - p2; arrays broadcast, nan where one side has no trials.

    d - sqrt((p1 - l1)^2 + (u2 - p2)^2) and d + sqrt((u1 - p1)^2 + (p2 - l2)^2), with d = p1 - p2 and [l, u] Wilson's.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        p1, p2 = np.divide(successes_1, trials_1), np.divide(successes_2, trials_2)
    low_1, high_1 = wilson_bounds(successes_1, trials_1, confidence)
    low_2, high_2 = wilson_bounds(successes_2, trials_2, confidence)
    d = p1 - p2
    return d - np.hypot(p1 - low_1, high_2 - p2), d + np.hypot(high_1 - p1, p2 - low_2)


@lru_cache(maxsize=4096)
def exact_p(k1: int, n1: int, k2: int, n2: int, test: str = "boschloo") -> float:
    """Two-sided exact p-value of p1 = p2.

    Boschloo is uniformly more powerful than Fisher and needs no margins fixed, which no robot study has; Barnard's
    statistic is the pooled score.

    Raises:
        ValueError: on an unknown test.
    """
    if test not in EXACT_TESTS:
        raise ValueError(f"unknown test {test!r}: one of {', '.join(EXACT_TESTS)}")
    table = [[k1, k2], [n1 - k1, n2 - k2]]
    if k1 + k2 in (0, n1 + n2):
        return 1.0  # every trial ended alike: no evidence either way, and the unconditional tests divide by zero
    if test == "boschloo":
        return as_float(stats.boschloo_exact(table).pvalue)
    if test == "barnard":
        return as_float(stats.barnard_exact(table).pvalue)
    return as_float(stats.fisher_exact(table)[1])


def boschloo_table(n1: int, n2: int, nuisance: int = 400) -> NDArray[np.float64]:
    """Boschloo p-values of every outcome at once, shape (n1 + 1, n2 + 1), for exact power and levels.

    Outcomes are ranked by Fisher's one-sided p-value; a p-value is the largest probability, over a grid of common
    rates, of an outcome ranked as high; two-sided is twice the smaller side, as in scipy.
    """
    k1, k2 = np.meshgrid(np.arange(n1 + 1), np.arange(n2 + 1), indexing="ij")
    less = stats.hypergeom.cdf(k1, n1 + n2, n1, k1 + k2)
    grid = np.linspace(0, 1, nuisance + 1)
    first = stats.binom.pmf(np.arange(n1 + 1)[None, :], n1, grid[:, None])
    second = first if n1 == n2 else stats.binom.pmf(np.arange(n2 + 1)[None, :], n2, grid[:, None])
    below = largest_tail(np.round(less, 12), first, second)
    if n1 == n2:
        above = below.T
    else:
        greater = stats.hypergeom.sf(k1 - 1, n1 + n2, n1, k1 + k2)
        above = largest_tail(np.round(greater, 12), first, second)
    return np.minimum(1.0, 2 * np.minimum(below, above))


def largest_tail(ranks: NDArray[np.float64], first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray:
    """For each outcome: max over rates of P(rank <= the outcome's), given the chances of both counts at each rate.

    Args:
        ranks: shape (n1 + 1, n2 + 1), smallest for the outcomes that speak most against the hypothesis.
        first, second: shape (rates, n1 + 1) and (rates, n2 + 1).
    """
    order = np.argsort(ranks, axis=None, kind="stable")
    ranked = ranks.ravel()[order]
    largest = np.zeros(len(order))
    for a, b in zip(first, second, strict=True):
        largest = np.maximum(largest, np.cumsum(np.outer(a, b).ravel()[order]))
    last_of_tie = np.searchsorted(ranked, ranked, side="right") - 1
    result = np.empty(len(order))
    result[order] = largest[last_of_tie]
    return result.reshape(ranks.shape)


def difference(
    k1: int, n1: int, k2: int, n2: int, confidence: float = DEFAULT_CONFIDENCE, test: str = "boschloo"
) -> Difference:
    """Rate 1 minus rate 2 with Newcombe's interval and an exact unconditional p-value.

    With more than LARGEST_TABLE possible outcomes the test is Fisher's, and the result says so: at that size the two
    hardly differ, and the unconditional ones would need gigabytes.

    Raises:
        ValueError: on impossible counts.
    """
    first, second = count(k1, n1, "first arm"), count(k2, n2, "second arm")
    check_confidence(confidence)
    if not first.trials or not second.trials:
        return Difference(None, None, None, None, test, confidence)
    if n1 * n2 > LARGEST_TABLE:
        test = "fisher"
    low, high = newcombe_bounds(*first, *second, confidence)
    estimate = k1 / n1 - k2 / n2
    return Difference(estimate, as_float(low), as_float(high), exact_p(*first, *second, test), test, confidence)
