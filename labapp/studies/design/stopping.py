"""What a design shows under its stopping rule: power, expected trials and how long until a decision; pure.

The same comparisons are judged, at the same levels and by the same boundaries, as on the results page's card of looks.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labapp.statistics.factorial import CELLS, EFFECTS
from labapp.statistics.looks import (
    ANYTIME,
    GROUP_SEQUENTIAL,
    Comparison,
    effect_comparison,
    look_edges,
    pair_comparison,
    planned_looks,
)
from labapp.statistics.power import trials_for_power
from labapp.statistics.sequential_power import Bets, Stopping, draw_bets, effect_stopping, pair_stopping
from labapp.studies.design.plan import AnalysisPlan
from labapp.studies.design.power import Question, curve_ns

TARGET, HALF = 0.8, 0.5
LONGEST = 400  # blocks, and trials an arm, up to which a rule is followed
MANY_STUDIES, FEW_STUDIES, FEW = 2000, 1000, 6  # drawn, for up to FEW comparisons and for more
LARGEST_EXACT = 150  # trials an arm up to which every pair of counts is followed


class Stopped(NamedTuple):
    """One comparison under the stopping rule. Trials are per arm.

    `is_judged` is False for an effect that is not primary: its figures are those it would have alone, at `level`.
    `expected_equal` is the length were all arms alike; `median` is the block by which half of studies have decided,
    and `needed` the trials within which 80 % have; None where it takes more than LONGEST.
    """

    key: str
    label: str
    is_judged: bool
    level: float
    effect: float
    power: float | None
    expected: float | None
    expected_equal: float | None
    median: int | None
    needed: int | None
    curve: tuple[tuple[int, float], ...]


class Compared(NamedTuple):
    comparison: Comparison
    is_judged: bool
    level: float


def stopping_power(question: Question, plan: AnalysisPlan) -> tuple[Stopped, ...]:
    """Every comparison that the rule judges, and the effects beside them; empty for a fixed number of trials."""
    if plan.stopping not in (GROUP_SEQUENTIAL, ANYTIME) or len(question.arms) < 2:
        return ()
    return _stopping_power(question, plan.stopping, plan.looks, plan.shape)


@lru_cache(maxsize=64)
def _stopping_power(question: Question, stopping: str, looks: int, shape: str) -> tuple[Stopped, ...]:
    compared = comparisons(question)
    if stopping == ANYTIME:
        return _betting(question, compared)
    return tuple(_looking(question, each, looks, shape) for each in compared)


def comparisons(question: Question) -> list[Compared]:
    """Effects first, then pairs: the primary ones, or all pairs where none is declared, as the results page has it."""
    codes = [arm.code for arm in question.arms]
    names = {arm.code: arm.name for arm in question.arms}
    pairs = [pair_comparison(codes, first, second, names) for first, second in combinations(codes, 2)]
    if question.primary:
        pairs = [pair for pair in pairs if {pair.key, _turned(pair.key)} & set(question.primary)]
    level = question.strict_alpha if question.primary else question.alpha / max(1, len(pairs))
    found = [
        Compared(effect, is_judged := effect.key in question.primary, level if is_judged else question.alpha)
        for effect in _effects(question, codes)
    ]
    return found + [Compared(pair, True, level) for pair in pairs]


def _turned(key: str) -> str:
    return ":".join(reversed(key.split(":")))


def _effects(question: Question, codes: Sequence[str]) -> list[Comparison]:
    if len(question.cells) != len(CELLS) or not all(question.cells):
        return []
    named = zip(EFFECTS, question.labels, strict=True)
    return [effect_comparison(codes, question.cells, key, label) for key, label in named]


def _rates(question: Question) -> NDArray[np.float64]:
    return np.array([arm.rate for arm in question.arms])


def _looking(question: Question, compared: Compared, looks: int, shape: str) -> Stopped:
    p, c = _rates(question), np.asarray(compared.comparison.coefficients)
    equal = np.full(len(p), p[c != 0].mean())

    n = question.trials

    def stopping(trials: int, rates: NDArray[np.float64] = p) -> Stopping:
        blocks = planned_looks(trials, looks)
        return _stopping(rates, c, blocks, _edges(blocks, looks, compared.level, shape, trials == n))

    now = stopping(n) if n else None
    return Stopped(
        compared.comparison.key,
        compared.comparison.label,
        compared.is_judged,
        compared.level,
        float(c @ p),
        now.power if now else None,
        now.expected if now else None,
        stopping(n, equal).expected if n else None,
        _median(now) if now else None,
        trials_for_power(lambda m: stopping(m).power, TARGET, LONGEST) if c @ p else None,
        tuple((m, stopping(m).power) for m in curve_ns(n)),
    )


def _edges(blocks: Sequence[int], looks: int, level: float, shape: str, is_planned: bool) -> tuple[float, ...]:
    """Boundaries of these very looks for the planned trials; along a curve those of looks spread evenly."""
    is_even = not is_planned and len(blocks) == looks
    return look_edges(tuple(range(1, looks + 1)) if is_even else tuple(blocks), level, shape)


def _stopping(rates: NDArray, c: NDArray, blocks: Sequence[int], edges: Sequence[float]) -> Stopping:
    if np.count_nonzero(c) == 2 and blocks[-1] <= LARGEST_EXACT:
        first, second = rates[c > 0][0], rates[c < 0][0]
        return pair_stopping(float(first), float(second), blocks, edges)
    return effect_stopping(list(rates[c != 0]), c[c != 0], blocks, edges)


def _median(stopping: Stopping) -> int | None:
    reached = np.cumsum(stopping.chances) >= HALF
    return int(stopping.looks[np.argmax(reached)]) if reached.any() else None


def _betting(question: Question, compared: Sequence[Compared]) -> tuple[Stopped, ...]:
    """All comparisons from the same drawn studies."""
    p, n = _rates(question), question.trials
    contrasts, levels = [each.comparison.coefficients for each in compared], [each.level for each in compared]
    studies = MANY_STUDIES if len(compared) <= FEW else FEW_STUDIES
    drawn = draw_bets(list(p), contrasts, LONGEST, levels, studies)
    equal = draw_bets([float(p.mean())] * len(p), contrasts, max(n, 1), levels, studies)
    return tuple(_bet(question, *each) for each in zip(compared, drawn, equal, strict=True))


def _bet(question: Question, compared: Compared, bets: Bets, equal: Bets) -> Stopped:
    n, effect = question.trials, float(np.dot(compared.comparison.coefficients, _rates(question)))
    return Stopped(
        compared.comparison.key,
        compared.comparison.label,
        compared.is_judged,
        compared.level,
        effect,
        bets.power(n) if n else None,
        bets.expected(n) if n else None,
        equal.expected(n) if n else None,
        bets.blocks_for(HALF) if effect else None,
        bets.blocks_for(TARGET) if effect else None,
        tuple((m, bets.power(m)) for m in curve_ns(n)),
    )
