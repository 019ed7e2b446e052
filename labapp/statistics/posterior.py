"""A Bayesian second view of the 2 x 2 design: what the data say about each effect, without a test."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from labapp.statistics.counts import DEFAULT_CONFIDENCE, check_confidence
from labapp.statistics.factorial import CONTRASTS, Table, pooled, stratum_weights
from labapp.statistics.strata import Counts, effective_counts

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
    """Posterior of every effect in `factorial.CONTRASTS`, the cells' rates over all strata independent Beta(prior).

    Each cell enters with its effective counts (`strata`): a prior in every stratum would pull small strata to one half.
    Strata in which a cell has no trials are left out, as in `factorial`; where none is complete, all are pooled, and a
    cell without trials keeps its prior, so the interval is wide rather than absent. Empty without any trial.

    Raises:
        ValueError: on a credibility outside (0, 1) or a prior that is not positive.
    """
    check_confidence(credibility)
    if min(prior) <= 0:
        raise ValueError(f"prior Beta{prior}: both parameters are above 0")
    complete = {name: cells for name, cells in table.items() if all(cell.trials for cell in cells)}
    k, n = _cell_counts(complete or pooled(table), weighting)
    if not n.any():
        return {}
    cells = rng.beta(prior[0] + k, prior[1] + n - k, size=(draws, len(n)))
    return {effect: _summary(cells @ c, credibility) for effect, c in CONTRASTS.items()}


def _cell_counts(table: Table, weighting: str) -> Counts:
    """Effective successes and trials of the four cells; of one stratum, its own."""
    counts = np.array(list(table.values()), dtype=float)  # stratum, cell, (successes, trials)
    if len(counts) == 1:
        return counts[0, :, 0], counts[0, :, 1]
    weights = stratum_weights(table, weighting)
    return effective_counts(counts[..., 0], counts[..., 1], [weights[name] for name in table])


def _summary(draws: NDArray[np.float64], credibility: float) -> PosteriorEffect:
    tail = (1 - credibility) / 2
    low, high = np.quantile(draws, [tail, 1 - tail])
    return PosteriorEffect(float(draws.mean()), float(low), float(high), float((draws > 0).mean()))
