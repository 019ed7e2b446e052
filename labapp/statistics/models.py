"""A logistic model as a sensitivity check of the factorial effects: do they survive block, operator or condition terms?

The model's answer is given in points too (average marginal effects with delta-method intervals), so that it can stand
beside the cell means. It replaces nothing: the cell means need no model to be right.
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from labapp.statistics import wording
from labapp.statistics.counts import DEFAULT_CONFIDENCE

GROUPS = 5
MOST_LEVELS_SHARE = 0.05  # a term with more levels than this share of the rows is not estimable with any use


class MarginalEffect(NamedTuple):
    """Average change of the success probability (share) when a factor goes from low to high, with interval."""

    estimate: float
    low: float
    high: float
    p: float


class Sensitivity(NamedTuple):
    """Model effects by factor name and "interaction" (odds scale p only), or why there are none."""

    effects: dict[str, MarginalEffect]
    terms: tuple[str, ...]
    dropped: tuple[str, ...]
    rows: int
    problem: str


def logistic_sensitivity(
    success: Sequence[bool],
    factors: Mapping[str, Sequence[bool]],
    terms: Mapping[str, Sequence[str]],
    confidence: float = DEFAULT_CONFIDENCE,
) -> Sensitivity:
    """Fit success ~ a * b + terms and give the average marginal effect of each factor.

    Args:
        success: one outcome a row.
        factors: two names to whether the row has the high level.
        terms: further categorical columns (block, operator, condition). Whole numbers with too many levels for the
            rows (blocks) go in as fifths of their order; another one with too many levels is dropped and named:
            hundreds of constants would eat the data.

    Returns:
        Effects, or a `problem` in words where the model has no finite answer (a perfectly separated outcome).

    Raises:
        ValueError: where there are other than two factors or columns differ in length.
    """
    if len(factors) != 2:
        raise ValueError(f"{len(factors)} factors given; the model needs two")
    lengths = {len(success), *(len(column) for column in (*factors.values(), *terms.values()))}
    if len(lengths) != 1:
        raise ValueError(f"columns have different lengths: {', '.join(map(str, sorted(lengths)))}")
    y = np.asarray(success, dtype=float)
    grouped = dict(_in_groups(name, column) for name, column in terms.items())
    useful = {name: column for name, column in grouped.items() if _is_useful(column)}
    dropped = tuple(name for name in grouped if name not in useful)
    x = _design(factors, useful)
    fit, problem = _fit(y, x)
    if fit is None:
        return Sensitivity({}, tuple(useful), dropped, len(y), problem)
    coefficients, covariance = fit
    effects = {name: _marginal(x, i, coefficients, covariance, confidence) for i, name in enumerate(factors, start=1)}
    return Sensitivity(effects, tuple(useful), dropped, len(y), "")


def sensitivity_sentences(model: Sensitivity, confidence: float) -> list[str]:
    """What the model says beside the cell means."""
    start, sentences = f"Logistic model with {', '.join(model.terms) or 'no further terms'}", []
    for name, effect in model.effects.items():
        low, high = wording.points(effect.low), wording.points(effect.high)
        interval = f"{wording.level(confidence)} interval {low} to {high}, {wording.p_value(effect.p)}"
        sentences.append(f"{start}: {name} {wording.points(effect.estimate)} points ({interval}).")
    if model.problem:
        sentences.append(f"No logistic model: {model.problem}.")
    if model.dropped:
        sentences.append(f"Not in the model, for too many or too few levels: {', '.join(model.dropped)}.")
    return sentences


def _in_groups(name: str, column: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Whole numbers with too many levels, like blocks, as GROUPS of consecutive ones; else the column itself."""
    values = sorted({str(value) for value in column})
    if _is_useful(column) or len(values) <= GROUPS or not all(value.isdecimal() for value in values):
        return name, column
    place = {value: i * GROUPS // len(values) for i, value in enumerate(sorted(values, key=int))}
    return f"{name} in {GROUPS} groups", [str(place[str(value)]) for value in column]


def _is_useful(column: Sequence[str]) -> bool:
    return 1 < len(set(column)) <= max(2, MOST_LEVELS_SHARE * len(column))


def _design(factors: Mapping[str, Sequence[bool]], terms: Mapping[str, Sequence[str]]) -> NDArray[np.float64]:
    """Columns: constant, a, b, a*b, then one per further level of each term; dependent ones are left out."""
    a, b = (np.asarray(column, dtype=float) for column in factors.values())
    columns = [np.ones_like(a), a, b, a * b]
    for column in terms.values():
        values = np.asarray(column)
        for level in sorted(set(column))[1:]:
            candidate = (values == level).astype(float)
            if np.linalg.matrix_rank(np.column_stack([*columns, candidate])) > len(columns):
                columns.append(candidate)
    return np.column_stack(columns)


def _fit(y: NDArray, x: NDArray) -> tuple[tuple[NDArray, NDArray] | None, str]:
    from statsmodels.discrete.discrete_model import Logit
    from statsmodels.tools.sm_exceptions import ConvergenceWarning, PerfectSeparationError, PerfectSeparationWarning

    if np.linalg.matrix_rank(x) < x.shape[1]:
        return None, "a cell of the design has no rows, so its effect and the interaction cannot be told apart"
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        warnings.simplefilter("error", PerfectSeparationWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            fit = Logit(y, x).fit(disp=0, maxiter=100)
            covariance = np.asarray(fit.cov_params())
        except (ConvergenceWarning, PerfectSeparationError, PerfectSeparationWarning, np.linalg.LinAlgError):
            return None, "a group of rows succeeded always or never, so the model has no finite answer"
    if not np.all(np.isfinite(covariance)) or np.max(np.abs(fit.params)) > 15:
        return None, "a group of rows succeeded always or never, so the model has no finite answer"
    return (np.asarray(fit.params), covariance * len(y) / (len(y) - x.shape[1])), ""


def _marginal(x: NDArray, index: int, beta: NDArray, covariance: NDArray, confidence: float) -> MarginalEffect:
    """Mean over rows of P(high) - P(low) and over both levels of the other factor, as in the cell means."""
    other = 2 if index == 1 else 1
    gradient, estimate = np.zeros_like(beta), 0.0
    for other_level in (0.0, 1.0):
        for level, sign in ((1.0, 0.5), (0.0, -0.5)):
            rows = x.copy()
            rows[:, index], rows[:, other], rows[:, 3] = level, other_level, level * other_level
            probability = 1 / (1 + np.exp(-rows @ beta))
            estimate += sign * probability.mean()
            gradient += sign * ((probability * (1 - probability))[:, None] * rows).mean(axis=0)
    error = float(np.sqrt(gradient @ covariance @ gradient))
    freedom = len(x) - x.shape[1]
    half = float(stdtrit(freedom, 0.5 + confidence / 2)) * error
    p = float(2 * stdtr(freedom, -abs(estimate) / error)) if error else float(estimate == 0)
    return MarginalEffect(float(estimate), float(estimate - half), float(estimate + half), p)
