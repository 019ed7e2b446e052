"""Several comparisons at once: Holm's adjustment, all pairs of arms, and the compact letter display."""

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from labapp.statistics.counts import DEFAULT_CONFIDENCE, Count
from labapp.statistics.differences import Difference, difference

LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Comparison(NamedTuple):
    """Two arms compared: `difference` has the unadjusted p-value, `adjusted_p` Holm's over all comparisons."""

    first: str
    second: str
    difference: Difference
    adjusted_p: float | None


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjusted p-values, in the given order."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def compare_all(arms: Mapping[str, Count], confidence: float = DEFAULT_CONFIDENCE) -> list[Comparison]:
    """Every pair of arms, in the order given; pairs with an arm without trials have no p-value and cost none."""
    pairs = [(a, b, difference(*arms[a], *arms[b], confidence)) for a, b in combinations(arms, 2)]
    adjusted = iter(holm([d.p for _, _, d in pairs if d.p is not None]))
    return [Comparison(a, b, d, None if d.p is None else next(adjusted)) for a, b, d in pairs]


def compact_letters(arms: Sequence[str], different: Collection[tuple[str, str]]) -> dict[str, str]:
    """Letters per arm: two arms share a letter exactly where no difference between them was shown.

    Insert and absorb (Piepho 2004). `arms` are best listed from highest to lowest rate: "a" then starts at the top.
    """
    groups = [set(arms)]
    for a, b in different:
        split = []
        for group in groups:
            split += [group - {a}, group - {b}] if a in group and b in group else [group]
        groups = _absorb(split)
    groups.sort(key=lambda group: [arms.index(arm) for arm in sorted(group, key=arms.index)])
    return {arm: "".join(_letter(i) for i, group in enumerate(groups) if arm in group) for arm in arms}


def letters_by_rate(
    arms: Mapping[str, Count], comparisons: Sequence[Comparison], alpha: float = 0.05
) -> dict[str, str]:
    """Compact letters of arms with trials, from highest rate to lowest, by Holm-adjusted p-values."""
    tried = [arm for arm, count in arms.items() if count.trials]
    ordered = sorted(tried, key=lambda arm: arms[arm].successes / arms[arm].trials, reverse=True)
    different = [(c.first, c.second) for c in comparisons if c.adjusted_p is not None and c.adjusted_p < alpha]
    return compact_letters(ordered, different)


def _absorb(groups: Sequence[set[str]]) -> list[set[str]]:
    kept: list[set[str]] = []
    for group in sorted(groups, key=len, reverse=True):
        if group and not any(group <= other for other in kept):
            kept.append(group)
    return kept


def _letter(index: int) -> str:
    return LETTERS[index] if index < len(LETTERS) else f"{LETTERS[index % len(LETTERS)]}{index // len(LETTERS)}"
