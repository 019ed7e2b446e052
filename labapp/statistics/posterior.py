"""A Bayesian second view of the 2 x 2 design: what the data say about each effect, without a test."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from labapp.statistics.counts import DEFAULT_CONFIDENCE, Count, check_confidence
from labapp.statistics.factorial import CONTRASTS, Table, stratum_weights

DRAWS = 40_000
PRIOR = (0.5, 0.5)  # Jeffreys: near-nominal coverage as an interval, and proper with 0 or n successes


class PosteriorEffect(NamedTuple):
    """Posterior of one effect (as a share): mean, central credible interval, probability that it is above zero."""

    mean: float
    low: float
    high: float
    probability_positive: float


def posterior_effects(
    table: Table,
    rng: Generator,
    credibility: float = DEFAULT_CONFIDENCE,
    weighting: str = "size",
    prior: tuple[float, float] = PRIOR,
    draws: int = DRAWS,
) -> dict[str, PosteriorEffect]:
    """Posterior of every effect in `factorial.CONTRASTS`, rates of all cells and strata independent Beta(prior).

    A cell without trials keeps its prior, so the interval is wide rather than absent. Empty without any trial.

    Raises:
        ValueError: on a credibility outside (0, 1) or a prior that is not positive.
    """
    check_confidence(credibility)
    if min(prior) <= 0:
        raise ValueError(f"prior Beta{prior}: both parameters are above 0")
    weights = stratum_weights(table, weighting)
    if not weights:
        return {}
    cells = sum(weights[name] * _draws(counts, rng, prior, draws) for name, counts in table.items())
    return {effect: _summary(cells @ c, credibility) for effect, c in CONTRASTS.items()}


def _draws(counts: Sequence[Count], rng: Generator, prior: tuple[float, float], draws: int) -> NDArray[np.float64]:
    k = np.array([count.successes for count in counts])
    n = np.array([count.trials for count in counts])
    return rng.beta(prior[0] + k, prior[1] + n - k, size=(draws, len(counts)))


def _summary(draws: NDArray[np.float64], credibility: float) -> PosteriorEffect:
    tail = (1 - credibility) / 2
    low, high = np.quantile(draws, [tail, 1 - tail])
    return PosteriorEffect(float(draws.mean()), float(low), float(high), float((draws > 0).mean()))
