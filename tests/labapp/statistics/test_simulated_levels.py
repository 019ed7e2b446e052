"""Type I error of every test that gives a verdict: at most 5.5 % where it says 5 %.

Exact tests of two arms, and effects with all cells alike, are not drawn but counted: every possible outcome, weighted
by its probability, at the worst of many common rates. The others are drawn studies, true rates drawn anew for each.
`-s` prints the figures.
"""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from labapp.statistics.cautions import association_test, stratified_association, stratified_trend
from labapp.statistics.contrasts import contrast_p, contrast_rejects
from labapp.statistics.counts import Count
from labapp.statistics.differences import boschloo_table, exact_p
from labapp.statistics.equivalence import above_table, equivalence_table, non_inferiority_table
from labapp.statistics.factorial import INTERACTION, MAIN_A, MAIN_B
from labapp.statistics.graded import compare_progress
from labapp.statistics.models import logistic_sensitivity
from labapp.statistics.multiplicity import compact_letters, holm
from labapp.statistics.paired import mcnemar_p
from labapp.statistics.strata import effective_counts
from tests.labapp.statistics.drawn import CELLS, FEW, STUDIES, assert_keeps_level, generator, rates
from tests.labapp.statistics.test_simulations import four_cells

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
SIZES = [(10, 10), (24, 24), (26, 26), (50, 50), (50, 24), (26, 10)]
EFFECTS = [("main effect", MAIN_A), ("other main effect", MAIN_B), ("interaction", INTERACTION)]


@pytest.fixture
def rng() -> np.random.Generator:
    return generator()


def largest_level(p_values: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    """Of the rates of both arms given, the largest chance of p < 0.05; all outcomes in `p_values`."""
    rejected = (p_values < 0.05).astype(float)
    n1, n2 = (size - 1 for size in rejected.shape)
    chances = [stats.binom.pmf(np.arange(n + 1), n, p[:, None]) for n, p in ((n1, first), (n2, second))]
    return float(np.max(np.sum((chances[0] @ rejected) * chances[1], axis=1)))


@pytest.mark.parametrize("sizes", SIZES)
def test_boschloo(sizes: tuple[int, int]) -> None:
    common = np.linspace(0, 1, 301)
    assert_keeps_level(f"Boschloo, n={sizes}, worst rate", largest_level(boschloo_table(*sizes), common, common))


@pytest.mark.parametrize("test", ["boschloo", "barnard", "fisher"])
@pytest.mark.parametrize("n", [10, 24])
def test_the_tests_of_the_command_line(test: str, n: int) -> None:
    common = np.linspace(0, 1, 301)
    table = np.array([[exact_p(i, n, j, n, test) for j in range(n + 1)] for i in range(n + 1)])
    assert_keeps_level(f"{test} as called, n={n}, worst rate", largest_level(table, common, common))


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("margin", [0.05, 0.1, 0.15, 0.2])
def test_claims_against_a_margin(sizes: tuple[int, int], margin: float) -> None:
    """At the margin itself, where the claim is wrong and hardest to tell."""
    high = np.linspace(margin, 1, 301)
    found = {
        "non-inferiority": largest_level(non_inferiority_table(*sizes, margin), high - margin, high),
        "equivalence": largest_level(equivalence_table(*sizes, margin), high - margin, high),
        "better by more": largest_level(above_table(*sizes, margin), high, high - margin),
    }
    for name, level in found.items():
        assert_keeps_level(f"{name}, margin {margin}, n={sizes}, worst rate", level)


@pytest.mark.parametrize("pairs", [10, 24, 50, 200])
def test_mcnemar(rng, pairs: int) -> None:
    discordant = rng.binomial(pairs, rng.uniform(0.05, 0.6, STUDIES))
    n10 = rng.binomial(discordant, 0.5)
    assert_keeps_level(f"McNemar, {pairs} pairs", float(np.mean(mcnemar_p(n10, discordant - n10) < 0.05)))


@pytest.mark.parametrize(("name", "c"), EFFECTS)
@pytest.mark.parametrize("strata", CELLS, ids=str)
def test_factorial_effects(rng, name: str, c: np.ndarray, strata: list[int]) -> None:
    """No effect, whatever the other factor does; and no effect of anything, all cells alike."""
    n = np.array(strata)
    high, low = rates(rng, 2, STUDIES, len(n))
    null = np.stack([high, high, low, low] if c is MAIN_B else [high, low, high, low], axis=2)
    alike = np.repeat(rates(rng, STUDIES, 1, 1).repeat(len(n), axis=1), 4, axis=2)
    for what, p in (("other factor at work", null), ("all cells alike", alike)):
        k = rng.binomial(n[:, None], p)
        found = contrast_p(c, *effective_counts(k, n[:, None], n / n.sum()))
        assert_keeps_level(f"{name}, trials {strata}, {what}", float(np.mean(found < 0.05)))


@pytest.mark.parametrize("n", [8, 10, 20, 24, 26, 30, 36, 50])
def test_factorial_effects_at_the_worst_common_rate(n: int) -> None:
    """Of all outcomes of four cells alike; by symmetry the same for both main effects and the interaction."""
    one, other = np.triu_indices(n + 1)  # pairs of counts, each standing for both of its orders
    orders = np.where(one == other, 1, 2)
    pairs = np.broadcast_arrays(one[:, None], other[:, None], one, other)
    rejects = contrast_rejects(MAIN_A, np.stack(pairs, axis=-1), np.full(4, n))
    levels = []
    for p in np.arange(0.01, 0.505, 0.01):
        share = stats.binom.pmf(np.arange(n + 1), n, p)
        weight = orders * share[one] * share[other]
        levels.append(weight @ rejects @ weight)
    assert_keeps_level(f"effects, n={n}, worst common rate", float(max(levels)))


@pytest.mark.parametrize("trials", [(50, 40, 24, 10), (50, 50, 50, 12)])
def test_factorial_effects_with_unequal_cells(rng, trials: tuple[int, ...]) -> None:
    k = rng.binomial(trials, rates(rng, STUDIES, 1))
    for name, c in EFFECTS:
        assert_keeps_level(f"{name}, cells {trials}", float(np.mean(contrast_p(c, k, trials) < 0.05)))


@pytest.mark.parametrize("n", [10, 24, 50])
@pytest.mark.parametrize("better", [0, 2])
def test_holm_and_the_compact_letters_make_no_false_claim(rng, n: int, better: int) -> None:
    """Five arms by Boschloo's test; `better` of them are truly better by 30 points, the others alike."""
    table, pairs = boschloo_table(n, n), list(combinations(range(5), 2))
    alike = {(i, j) for i, j in pairs if (i < better) == (j < better)}
    base = rng.uniform(0.1, 0.6, FEW)
    k = rng.binomial(n, np.stack([base + 0.3 * (i < better) for i in range(5)], axis=1))
    false_holm = false_letters = 0
    for row in k:
        adjusted = holm([float(table[row[i], row[j]]) for i, j in pairs])
        shown = [pair for pair, p in zip(pairs, adjusted, strict=True) if p < 0.05]
        false_holm += any(pair in alike for pair in shown)
        letters = compact_letters([str(i) for i in range(5)], [(str(i), str(j)) for i, j in shown])
        false_letters += any(not set(letters[str(i)]) & set(letters[str(j)]) for i, j in alike)
    assert_keeps_level(f"Holm over ten pairs, n={n}, {better} better, family", false_holm / FEW)
    assert_keeps_level(f"compact letters, n={n}, {better} better, family", false_letters / FEW)


@pytest.mark.parametrize("n", [10, 24, 50])
def test_the_graded_comparison(rng, n: int) -> None:
    order, rejected = np.arange(6), 0
    for shares in rng.dirichlet(np.ones(6), FEW):
        first, second = rng.choice(order, (2, n), p=shares)
        found = compare_progress(first, second)
        rejected += found is not None and found.p < 0.05
    assert_keeps_level(f"Brunner-Munzel by permutation, n={n}", rejected / FEW)


@pytest.mark.parametrize("per_stratum", [5, 24])
def test_drift_and_operators(rng, per_stratum: int) -> None:
    """Five arms in two conditions, four operators in turn."""
    strata = np.repeat(np.arange(10), per_stratum).tolist()
    trials = len(strata)
    order, operator, rejected = np.tile(np.arange(per_stratum), 10), np.resize(list("abcd"), trials), np.zeros(2)
    for p in rates(rng, FEW, 10):
        success = rng.random(trials) < p.repeat(per_stratum)
        rejected += (
            stratified_trend(success, order, strata)[1] < 0.05,
            stratified_association(success, list(operator), strata) < 0.05,
        )
    assert_keeps_level(f"drift, {per_stratum} a stratum", rejected[0] / FEW)
    assert_keeps_level(f"operators, {per_stratum} a stratum", rejected[1] / FEW)


@pytest.mark.parametrize("share", [0.02, 0.05, 0.15])
def test_uneven_invalid_trials(rng, share: float) -> None:
    drawn = rng.binomial(50, share, (FEW, 5))
    found = [association_test([{str(i): Count(int(x), 50) for i, x in enumerate(row)}]) for row in drawn if row.any()]
    assert_keeps_level(f"invalid trials, {share:.0%} of 50", float(np.sum(np.array(found) < 0.05)) / FEW)


@pytest.mark.parametrize(("n", "blocks"), [(10, 1), (24, 1), (24, 6), (50, 1), (50, 10)])
def test_the_logistic_effects(rng, n: int, blocks: int) -> None:
    factors, terms = four_cells(n, blocks)
    rejected = fitted = 0
    for high, low in rng.uniform(0.2, 0.85, (2 * FEW, 2)):
        success = list(rng.random(4 * n) < np.repeat([high, low, high, low], n))
        model = logistic_sensitivity(success, factors, terms)
        if not model.problem:
            fitted += 1
            rejected += model.effects["a"].p < 0.05
    assert_keeps_level(f"logistic effect, n={n}, operators and {blocks} blocks", rejected / fitted)
