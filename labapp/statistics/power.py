"""Power, minimum detectable effect and curves over n, before anything is locked; and "n more trials" afterwards.

The published design (cells .86 .82 .74 .58, 50 trials each) has power .86 for world and .39 for behavior: that is the
two-sided 5 % Wald test of the contrast with unpooled variance, Phi(|effect| / SE - 1.96). `method="normal"` is that
formula; `method="simulated"` draws studies and applies the very interval that the results page shows.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from labapp.statistics.contrasts import mover_bounds
from labapp.statistics.differences import boschloo_table, newcombe_bounds
from labapp.statistics.factorial import CELLS, INTERACTION, MAIN_A, MAIN_B

EFFECTS: Mapping[str, NDArray[np.float64]] = {"main_a": MAIN_A, "main_b": MAIN_B, "interaction": INTERACTION}
METHODS = ("normal", "simulated")
STUDIES = 20_000
LARGEST_N = 20_000
LARGEST_EXACT = 300


class FactorialPower(NamedTuple):
    """Power of each effect of a 2 x 2 design at n trials a cell."""

    n: int
    main_a: float
    main_b: float
    interaction: float


def contrast_error(rates: ArrayLike, n: float, coefficients: ArrayLike) -> float:
    """Standard error of sum_i c_i p_i with n trials in each cell."""
    p, c = np.asarray(rates, dtype=float), np.asarray(coefficients, dtype=float)
    return float(np.sqrt(np.sum(c**2 * p * (1 - p) / n)))


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
        k = np.random.default_rng(seed).binomial(n, p, size=(STUDIES, len(CELLS)))
        found = {name: _rejection_rate(*mover_bounds(c, k, n, 1 - alpha)) for name, c in EFFECTS.items()}
    return FactorialPower(n, **found)


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
        rates = np.array([base + effect, base + effect, base, base])
        return normal_power(effect, contrast_error(rates, n, MAIN_A), alpha)

    return _smallest_effect(power_at, 1 - base, power)


def detectable_interaction(base: float, n: int, power: float = 0.8, alpha: float = 0.05) -> float | None:
    """Smallest difference of differences that n trials a cell detect: one cell higher, three at `base`."""

    def power_at(effect: float) -> float:
        return normal_power(effect, contrast_error([base + effect, base, base, base], n, INTERACTION), alpha)

    return _smallest_effect(power_at, 1 - base, power)


def detectable_difference(base: float, n: int, power: float = 0.8, alpha: float = 0.05) -> float | None:
    """Smallest rise of one arm over another at `base` that n trials an arm detect (exact, Boschloo)."""
    rejected = rejection_table(n, n, alpha)
    counts = np.arange(n + 1)
    second = stats.binom.pmf(counts, n, base)

    def power_at(effect: float) -> float:
        return float(stats.binom.pmf(counts, n, min(base + effect, 1.0)) @ rejected @ second)

    return _smallest_effect(power_at, 1 - base, power)


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
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if power_at(middle) >= power else (middle, high)
    return high


def _rejection_rate(low: NDArray[np.float64], high: NDArray[np.float64]) -> float:
    return float(np.mean((low > 0) | (high < 0)))


def _check_n(n: int) -> None:
    if n < 1:
        raise ValueError(f"{n} trials: a power needs at least one trial a cell")
