"""Power, minimum detectable effect and curves over n, before anything is locked; and "n more trials" afterwards.

The published design (cells .86 .82 .74 .58, 50 trials each) has power .86 for world and .39 for behavior: that is the
two-sided 5 % Wald test of the contrast with unpooled variance, Phi(|effect| / SE - 1.96). `method="normal"` is that
formula. It promises too much with few trials or rates near 0 and 1 (up to 11 points at 10 a cell), so up to
LARGEST_DRAWN trials `method="simulated"` counts drawn studies in which the results page's own test finds the effect.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from labapp.statistics.contrasts import contrast_rejects
from labapp.statistics.differences import boschloo_table, newcombe_bounds
from labapp.statistics.factorial import CELLS, EFFECTS

METHODS = ("normal", "simulated")
STUDIES = 20_000
LARGEST_DRAWN = 100  # trials a cell up to which effects are drawn; above, the formula agrees within a point
LARGEST_N = 20_000
LARGEST_EXACT = 300
LARGEST_TABLES = 200  # trials an arm up to which curves of two arms are exact: larger tables are slow


class FactorialPower(NamedTuple):
    """Power of each effect of a 2 x 2 design at n trials a cell."""

    n: int
    main_a: float
    main_b: float
    interaction: float


def contrast_error(rates: ArrayLike, n: ArrayLike, coefficients: ArrayLike) -> float:
    """Standard error of sum_i c_i p_i with n trials in each cell (one number, or one a cell)."""
    p, c, trials = (np.asarray(value, dtype=float) for value in (rates, coefficients, n))
    return float(np.sqrt(np.sum(c**2 * p * (1 - p) / trials)))


def normal_power(effect: float, error: float, alpha: float = 0.05) -> float:
    """Power of the two-sided z test of an effect with a known standard error; 1 without error, alpha without effect."""
    if error == 0:
        return 1.0 if effect else alpha
    z = special.ndtri(1 - alpha / 2)
    return float(special.ndtr(abs(effect) / error - z) + special.ndtr(-abs(effect) / error - z))


def factorial_power(
    rates: Sequence[float], n: int, alpha: float = 0.05, method: str = "normal", seed: int = 0
) -> FactorialPower:
    """Power of both main effects and the interaction.

    Args:
        rates: assumed success rates of the cells high/high, high/low, low/high, low/low.
        n: trials a cell.
        method: "normal" or "simulated".

    Raises:
        ValueError: on other than four rates, a rate outside [0, 1], no trials, or an unknown method.
    """
    p = check_rates(rates, len(CELLS))
    _check_n(n)
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}: one of {', '.join(METHODS)}")
    if method == "normal":
        found = {name: normal_power(float(c @ p), contrast_error(p, n, c), alpha) for name, c in EFFECTS.items()}
    else:
        found = drawn_power(p, np.full(len(CELLS), n), alpha, seed)
    return FactorialPower(n, **found)


def drawn_power(p: NDArray[np.float64], trials: NDArray, alpha: float = 0.05, seed: int = 0) -> Mapping[str, float]:
    """Share of STUDIES drawn studies in which the results page's test finds each of EFFECTS.

    Args:
        p, trials: shape (4,), in the order of CELLS.
    """
    return _drawn_power(tuple(map(float, p)), tuple(map(int, trials)), alpha, seed)


@lru_cache(maxsize=2048)
def _drawn_power(p: tuple[float, ...], trials: tuple[int, ...], alpha: float, seed: int) -> Mapping[str, float]:
    rng = np.random.default_rng(seed)
    k = np.stack([rng.binomial(n, rate, STUDIES) for n, rate in zip(trials, p, strict=True)], axis=-1)
    return {name: float(np.mean(contrast_rejects(c, k, trials, alpha))) for name, c in EFFECTS.items()}


def effect_power(effect: str, p: NDArray[np.float64], trials: ArrayLike, alpha: float = 0.05) -> float:
    """Power of one of EFFECTS: drawn where a cell has up to LARGEST_DRAWN trials, else by the formula.

    Args:
        p: shape (4,), in the order of CELLS.
        trials: trials a cell, one number or shape (4,).
    """
    n = np.broadcast_to(np.asarray(trials), p.shape)
    if np.min(n) <= LARGEST_DRAWN:
        return drawn_power(p, n, alpha)[effect]
    c = EFFECTS[effect]
    return normal_power(float(c @ p), contrast_error(p, n, c), alpha)


def pair_power(p1: float, p2: float, n1: int, n2: int, alpha: float = 0.05, test: str = "boschloo") -> float:
    """Exact power of comparing two arms: every possible pair of counts, weighted by its probability.

    Args:
        test: "boschloo" (the verdict of the results page) or "newcombe" (its interval excludes zero).

    Raises:
        ValueError: on a rate outside [0, 1], no trials, or an unknown test.
    """
    check_rates([p1, p2], 2)
    _check_n(min(n1, n2))
    rejected = rejection_table(n1, n2, alpha, test)
    first = stats.binom.pmf(np.arange(n1 + 1), n1, p1)
    second = stats.binom.pmf(np.arange(n2 + 1), n2, p2)
    return float(first @ rejected @ second)


def pair_power_at(p1: float, p2: float, n: int, alpha: float = 0.05) -> float:
    """Power of comparing two arms of n trials by Boschloo's test: exact up to LARGEST_TABLES, by formula above.

    The formula takes a quarter of a count off the difference: so much the exact test loses on average to the steps
    between counts (within two points of exact from LARGEST_TABLES on).
    """
    if n <= LARGEST_TABLES:
        counts = np.arange(n + 1)
        rejected = _rejected(n, alpha)
        return float(stats.binom.pmf(counts, n, p1) @ rejected @ stats.binom.pmf(counts, n, p2))
    gap = max(abs(p1 - p2) - 1 / (4 * n), 0.0)
    return normal_power(gap, contrast_error([p1, p2], n, [1, -1]), alpha)


@lru_cache(maxsize=128)
def _rejected(n: int, alpha: float) -> NDArray[np.float64]:
    return rejection_table(n, n, alpha)


def rejection_table(n1: int, n2: int, alpha: float, test: str = "boschloo") -> NDArray[np.float64]:
    """1 where counts (k1, k2) reject p1 = p2, shape (n1 + 1, n2 + 1).

    Raises:
        ValueError: on an unknown test, or more trials than LARGEST_EXACT: the normal formula is as good there.
    """
    if max(n1, n2) > LARGEST_EXACT:
        raise ValueError(f"exact power is for up to {LARGEST_EXACT} trials an arm; use the normal formula for more")
    if test == "boschloo":
        return (boschloo_table(n1, n2) < alpha).astype(float)
    k1, k2 = np.arange(n1 + 1)[:, None], np.arange(n2 + 1)[None, :]
    if test == "newcombe":
        low, high = newcombe_bounds(k1, n1, k2, n2, 1 - alpha)
        return ((low > 0) | (high < 0)).astype(float)
    raise ValueError(f"unknown test {test!r}: boschloo or newcombe")


def curve(power_at: Callable[[int], float], ns: Sequence[int]) -> list[tuple[int, float]]:
    """(n, power) along trials a cell or arm."""
    return [(n, power_at(n)) for n in ns]


def trials_for_power(power_at: Callable[[int], float], power: float = 0.8, largest: int = LARGEST_N) -> int | None:
    """Smallest n that reaches the power, None above `largest`; power_at must not fall with n."""
    if power_at(largest) < power:
        return None
    low, high = 1, largest
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if power_at(middle) >= power else (middle + 1, high)
    return low


def detectable_main_effect(base: float, n: int, power: float = 0.8, alpha: float = 0.05) -> float | None:
    """Smallest rise of a main effect, from rates around `base`, that n trials a cell detect; None where none does.

    Two cells stay at `base`, the two others lie higher by the effect.
    """

    def power_at(effect: float) -> float:
        return effect_power("main_a", np.array([base + effect, base + effect, base, base]), n, alpha)

    return _smallest_effect(power_at, 1 - base, power)


def detectable_interaction(base: float, n: int, power: float = 0.8, alpha: float = 0.05) -> float | None:
    """Smallest difference of differences that n trials a cell detect: one cell higher, three at `base`."""

    def power_at(effect: float) -> float:
        return effect_power("interaction", np.array([base + effect, base, base, base]), n, alpha)

    return _smallest_effect(power_at, 1 - base, power)


def detectable_difference(base: float, n: int, power: float = 0.8, alpha: float = 0.05) -> float | None:
    """Smallest rise of one arm over another at `base` that n trials an arm detect by Boschloo's test."""
    return _smallest_effect(lambda effect: pair_power_at(min(base + effect, 1.0), base, n, alpha), 1 - base, power)


def more_trials_to_resolve(k1: int, n1: int, k2: int, n2: int, power: float = 0.8, alpha: float = 0.05) -> int | None:
    """Further trials per arm that would show the difference seen so far, were it the true one.

    0 where the arms have enough already; None where they have the same rate (no number resolves that) or no trials.
    The plain normal formula: a plan, not a promise, for the seen difference is itself uncertain.
    """
    if not n1 or not n2 or k1 * n2 == k2 * n1:
        return None
    rates = np.array([(k1 + 0.5) / (n1 + 1), (k2 + 0.5) / (n2 + 1)])
    difference = float(rates[0] - rates[1])
    needed = trials_for_power(
        lambda n: normal_power(difference, contrast_error(rates, n, [1, -1]), alpha), power, 1_000_000
    )
    return None if needed is None else max(0, needed - min(n1, n2))


def check_rates(rates: Sequence[float], cells: int) -> NDArray[np.float64]:
    """The rates as an array.

    Raises:
        ValueError: on another number of rates, or one outside [0, 1].
    """
    p = np.asarray(rates, dtype=float)
    if p.shape != (cells,):
        raise ValueError(f"{p.size} rates given; {cells} are needed")
    if np.any(p < 0) or np.any(p > 1):
        hint = "; give shares, not per cent" if np.any(p > 1) else ""
        raise ValueError(f"rates lie between 0 and 1, got {', '.join(f'{value:g}' for value in p)}{hint}")
    return p


def _smallest_effect(power_at: Callable[[float], float], largest: float, power: float) -> float | None:
    if power_at(largest) < power:
        return None
    low, high = 0.0, largest
    for _ in range(14):
        middle = (low + high) / 2
        low, high = (low, middle) if power_at(middle) >= power else (middle, high)
    return high


def _check_n(n: int) -> None:
    if n < 1:
        raise ValueError(f"{n} trials: a power needs at least one trial a cell")
