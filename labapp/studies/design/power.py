"""What a design can show, from assumed success rates: pure, before any trial is run.

Effects of the 2 x 2 design use the normal test of the contrast (and a simulation of the interval that the results page
shows, as a check); two arms are compared by Boschloo's test, over every possible pair of counts, up to LARGEST_EXACT
trials each, and by the normal formula above. The schedule pairs arms by block, which these figures do not count on.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from labapp.statistics.equivalence import equivalence_p, non_inferiority_p
from labapp.statistics.factorial import CELLS
from labapp.statistics.power import (
    EFFECTS,
    contrast_error,
    detectable_interaction,
    detectable_main_effect,
    factorial_power,
    normal_power,
    rejection_table,
    trials_for_power,
)
from labapp.studies.design.plan import Margin

TARGET = 0.8
CURVE_POINTS = 16
SMALLEST_CURVE = 120
LARGEST_CURVE = 400
LARGEST_EXACT = 150  # above it the normal formula is as good and the tables are slow


@dataclass(frozen=True)
class Assumed:
    """An arm with the success rate assumed for it."""

    code: str
    name: str
    rate: float


@dataclass(frozen=True)
class Question:
    """Everything that the power of a design depends on.

    Args:
        arms: in the order of the page.
        cells: codes of the arms in each cell of the 2 x 2 design, in the order of CELLS; empty without one.
        labels: the three effects in words.
        groups: (name, trials per arm): all, and nominal and shifted apart where there are both.
        alpha: level; `strict_alpha` is what the first of several primary comparisons must reach.
    """

    arms: tuple[Assumed, ...]
    cells: tuple[tuple[str, ...], ...]
    labels: tuple[str, str, str]
    groups: tuple[tuple[str, int], ...]
    alpha: float = 0.05
    strict_alpha: float = 0.05
    primary: tuple[str, ...] = ()
    margins: tuple[Margin, ...] = ()

    @property
    def trials(self) -> int:
        """Planned trials per arm, over all conditions."""
        return self.groups[0][1] if self.groups else 0


class Power(NamedTuple):
    """One comparison: assumed size, power in each group of trials (None without any), smallest effect found with
    80 % power, trials per arm that give 80 %, and the curve over n. Shares, not points."""

    key: str
    label: str
    is_primary: bool
    effect: float
    powers: tuple[float | None, ...]
    strict: float | None
    simulated: float | None
    detectable: float | None
    needed: int | None
    curve: tuple[tuple[int, float], ...]


class Claim(NamedTuple):
    """A declared margin: power of the claim under the assumed rates, and were both arms truly equal."""

    label: str
    margin: float
    power: float | None
    power_if_equal: float | None


class Report(NamedTuple):
    effects: tuple[Power, ...]
    pairs: tuple[Power, ...]
    claims: tuple[Claim, ...]


@lru_cache(maxsize=64)
def design_power(question: Question) -> Report:
    """Power of every effect, every pair of arms and every declared margin."""
    pairs = tuple(_pair(question, first, second) for first, second in combinations(question.arms, 2))
    claims = tuple(_claim(question, margin) for margin in question.margins)
    return Report(_effects(question), pairs, claims)


def curve_ns(planned: int) -> list[int]:
    """Trials per arm along which curves are drawn; the planned number is one of them."""
    largest = min(max(SMALLEST_CURVE, 2 * planned), LARGEST_CURVE)
    spread = {round(n) for n in np.linspace(6, largest, CURVE_POINTS)}
    return sorted(spread | ({planned} if 0 < planned <= LARGEST_CURVE else set()))


def _effects(question: Question) -> tuple[Power, ...]:
    if len(question.cells) != len(CELLS) or not all(question.cells):
        return ()
    rates = {arm.code: arm.rate for arm in question.arms}
    p = np.array([np.mean([rates[code] for code in cell]) for cell in question.cells])
    arms_per_cell = np.array([len(cell) for cell in question.cells])
    simulated = _simulated(question, p, arms_per_cell)
    return tuple(
        _effect(question, key, label, p, arms_per_cell, simulated.get(key))
        for key, label in zip(EFFECTS, question.labels, strict=True)
    )


def _effect(
    question: Question, key: str, label: str, p: NDArray, arms_per_cell: NDArray, simulated: float | None
) -> Power:
    c = EFFECTS[key]
    effect = float(c @ p)

    def power_at(n: int, alpha: float = question.alpha) -> float:
        return normal_power(effect, contrast_error(p, n * arms_per_cell, c), alpha)

    find = detectable_interaction if key == "interaction" else detectable_main_effect
    base = float(np.mean(p[c < 0])) if key != "interaction" else float(np.mean(p[1:]))
    n = question.trials
    is_primary = key in question.primary
    return Power(
        key,
        label,
        is_primary,
        effect,
        tuple(power_at(trials) if trials else None for _, trials in question.groups),
        power_at(n, question.strict_alpha) if n and is_primary and question.strict_alpha < question.alpha else None,
        simulated,
        find(base, n, TARGET, question.alpha) if n else None,
        trials_for_power(power_at, TARGET) if effect else None,
        tuple((m, power_at(m)) for m in curve_ns(n)),
    )


def _simulated(question: Question, p: NDArray, arms_per_cell: NDArray) -> dict[str, float]:
    """The same power by drawing studies and applying the results page's own interval."""
    if not question.trials or np.any(arms_per_cell != 1):
        return {}
    found = factorial_power(list(p), question.trials, question.alpha, method="simulated")
    return {key: getattr(found, key) for key in EFFECTS}


def _pair(question: Question, first: Assumed, second: Assumed) -> Power:
    key = f"{first.code}:{second.code}"
    effect = first.rate - second.rate
    n, is_primary = question.trials, key in question.primary

    def power_at(trials: int, alpha: float = question.alpha) -> float:
        return _pair_power(first.rate, second.rate, trials, alpha)

    return Power(
        key,
        f"{first.name} and {second.name}",
        is_primary,
        effect,
        tuple(power_at(trials) if trials else None for _, trials in question.groups),
        power_at(n, question.strict_alpha) if n and is_primary and question.strict_alpha < question.alpha else None,
        None,
        _detectable(min(first.rate, second.rate), n, question.alpha) if n else None,
        trials_for_power(lambda m: _normal(first.rate, second.rate, m, question.alpha), TARGET) if effect else None,
        tuple((m, power_at(m)) for m in curve_ns(n)),
    )


@lru_cache(maxsize=256)
def _rejected(n: int, alpha: float) -> NDArray[np.float64]:
    return rejection_table(n, n, alpha)


def _pair_power(p1: float, p2: float, n: int, alpha: float) -> float:
    return _weighted(p1, p2, n, _rejected(n, alpha)) if n <= LARGEST_EXACT else _normal(p1, p2, n, alpha)


def _normal(p1: float, p2: float, n: int, alpha: float) -> float:
    return normal_power(p1 - p2, contrast_error([p1, p2], n, [1, -1]), alpha)


@lru_cache(maxsize=256)
def _detectable(base: float, n: int, alpha: float) -> float | None:
    """Smallest rise over `base` that n trials per arm detect, in thousandths."""
    rises = np.arange(1, round(1000 * (1 - base)) + 1) / 1000
    return next((float(r) for r in rises if _pair_power(min(base + float(r), 1.0), base, n, alpha) >= TARGET), None)


def _weighted(p1: float, p2: float, n: int, decided: NDArray[np.float64]) -> float:
    counts = np.arange(n + 1)
    return float(stats.binom.pmf(counts, n, p1) @ decided @ stats.binom.pmf(counts, n, p2))


def _claim(question: Question, margin: Margin) -> Claim:
    arms = {arm.code: arm for arm in question.arms}
    first, second = arms[margin.first], arms[margin.second]
    verb = "is not worse than" if margin.kind == "non_inferiority" else "is equivalent to"
    label = f"{first.name} {verb} {second.name}, margin {100 * margin.margin:g} points"
    n = question.trials
    if not 0 < n <= LARGEST_CURVE:
        return Claim(label, margin.margin, None, None)
    decided = _claimed(margin.kind, n, margin.margin, question.alpha)
    middle = (first.rate + second.rate) / 2
    return Claim(
        label, margin.margin, _weighted(first.rate, second.rate, n, decided), _weighted(middle, middle, n, decided)
    )


@lru_cache(maxsize=64)
def _claimed(kind: str, n: int, margin: float, alpha: float) -> NDArray[np.float64]:
    """1 where counts (k1, k2) let the claim be made."""
    k1, k2 = np.arange(n + 1)[:, None], np.arange(n + 1)[None, :]
    test = non_inferiority_p if kind == "non_inferiority" else equivalence_p
    return (test(k1, n, k2, n, margin) < alpha).astype(float)
