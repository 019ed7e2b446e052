"""What a design can show, from assumed success rates: pure, before any trial is run.

Effects of the 2 x 2 design: the share of drawn studies in which the results page's own test finds them, and the plain
normal formula beside it at the planned number. Two arms: Boschloo's test over every possible pair of counts. Both go
over to formulas where these agree (`statistics.power`). The schedule pairs arms by block, which nothing here counts on.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from labapp.statistics.equivalence import equivalence_table, non_inferiority_table
from labapp.statistics.factorial import CELLS, EFFECTS
from labapp.statistics.power import (
    contrast_error,
    detectable_difference,
    detectable_interaction,
    detectable_main_effect,
    effect_power,
    normal_power,
    pair_power_at,
    trials_for_power,
)
from labapp.studies.design.plan import Margin

TARGET = 0.8
CURVE_POINTS = 16
SMALLEST_CURVE = 120
LARGEST_CURVE = 400


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
    """One comparison: assumed size, power in each group of trials (None without any), the plain formula's power for
    all trials (effects only), smallest effect found with 80 % power, trials per arm that give 80 %, and the curve over
    n. Shares, not points."""

    key: str
    label: str
    is_primary: bool
    effect: float
    powers: tuple[float | None, ...]
    strict: float | None
    formula: float | None
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
    return tuple(
        _effect(question, key, label, p, arms_per_cell) for key, label in zip(EFFECTS, question.labels, strict=True)
    )


def _effect(question: Question, key: str, label: str, p: NDArray, arms_per_cell: NDArray) -> Power:
    c = EFFECTS[key]
    effect = float(c @ p)

    def power_at(n: int, alpha: float = question.alpha) -> float:
        return effect_power(key, p, n * arms_per_cell, alpha)

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
        normal_power(effect, contrast_error(p, n * arms_per_cell, c), question.alpha) if n else None,
        find(base, n, TARGET, question.alpha) if n else None,
        trials_for_power(power_at, TARGET) if effect else None,
        tuple((m, power_at(m)) for m in curve_ns(n)),
    )


def _pair(question: Question, first: Assumed, second: Assumed) -> Power:
    key = f"{first.code}:{second.code}"
    effect = first.rate - second.rate
    n, is_primary = question.trials, key in question.primary

    def power_at(trials: int, alpha: float = question.alpha) -> float:
        return pair_power_at(first.rate, second.rate, trials, alpha)

    return Power(
        key,
        f"{first.name} and {second.name}",
        is_primary,
        effect,
        tuple(power_at(trials) if trials else None for _, trials in question.groups),
        power_at(n, question.strict_alpha) if n and is_primary and question.strict_alpha < question.alpha else None,
        None,
        detectable_difference(min(first.rate, second.rate), n, TARGET, question.alpha) if n else None,
        trials_for_power(power_at, TARGET) if effect else None,
        tuple((m, power_at(m)) for m in curve_ns(n)),
    )


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
    table = non_inferiority_table if kind == "non_inferiority" else equivalence_table
    return (table(n, n, margin) < alpha).astype(float)
