"""Coverage by drawn studies of every interval that the pages show. Run by `make check-slow`; `-s` prints the figures.

Studies are as large as real ones (10 to 50 trials an arm), true rates drawn anew for each study. Type I errors are in
`test_simulated_levels.py`, power in `test_simulated_power.py`, sequential looks in `test_sequential_simulations.py`.
"""

import numpy as np
import pytest

from labapp.statistics.contrasts import contrast_bounds
from labapp.statistics.counts import Count
from labapp.statistics.differences import newcombe_bounds
from labapp.statistics.factorial import INTERACTION, MAIN_A, MAIN_B
from labapp.statistics.graded import compare_progress
from labapp.statistics.models import logistic_sensitivity
from labapp.statistics.paired import tango_bounds
from labapp.statistics.posterior import posterior_effects
from labapp.statistics.proportions import clopper_pearson_bounds, wilson_bounds
from labapp.statistics.sequential import log_capital
from labapp.statistics.strata import effective_counts
from tests.labapp.statistics.drawn import (
    CELLS,
    FEW,
    PAPER_STRATA,
    STUDIES,
    assert_covers,
    assert_covers_at_least,
    covered,
    generator,
    rates,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
SIZES = [10, 24, 26, 50]
EFFECTS = [("main effect", MAIN_A), ("other main effect", MAIN_B), ("interaction", INTERACTION)]


@pytest.fixture
def rng() -> np.random.Generator:
    return generator()


@pytest.mark.parametrize("n", SIZES)
def test_wilson(rng, n: int) -> None:
    p = rates(rng, STUDIES)
    assert_covers(f"Wilson, n={n}", covered(*wilson_bounds(rng.binomial(n, p), n), p))


@pytest.mark.parametrize("n", SIZES)
def test_clopper_pearson_covers_at_least_what_it_says(rng, n: int) -> None:
    p = rates(rng, STUDIES)
    assert_covers_at_least(f"Clopper-Pearson, n={n}", covered(*clopper_pearson_bounds(rng.binomial(n, p), n), p))


@pytest.mark.parametrize("confidence", [0.9, 0.95])
@pytest.mark.parametrize("sizes", [(10, 10), (24, 24), (26, 26), (50, 50), (50, 24), (50, 10)])
def test_newcombe(rng, sizes: tuple[int, int], confidence: float) -> None:
    p = rates(rng, STUDIES, 2)
    k = rng.binomial(sizes, p)
    bounds = newcombe_bounds(k[:, 0], sizes[0], k[:, 1], sizes[1], confidence)
    assert_covers(f"Newcombe {confidence}, n={sizes}", covered(*bounds, p[:, 0] - p[:, 1]), confidence)


@pytest.mark.parametrize("pairs", [10, 24, 26, 50, 200])
def test_tango(rng, pairs: int) -> None:
    shares = rng.dirichlet((2, 1, 1, 2), STUDIES)
    drawn = rng.multinomial(pairs, shares)
    found = covered(*tango_bounds(drawn[:, 1], drawn[:, 2], pairs), shares[:, 1] - shares[:, 2])
    (assert_covers if pairs > 20 else assert_covers_at_least)(f"Tango, {pairs} pairs", found)


@pytest.mark.parametrize("pairs", [24, 50])
def test_the_exact_share_of_discordant_pairs(rng, pairs: int) -> None:
    share = rates(rng, STUDIES)
    discordant = np.maximum(rng.binomial(pairs, rng.uniform(0.1, 0.6, STUDIES)), 1)
    bounds = clopper_pearson_bounds(rng.binomial(discordant, share), discordant)
    assert_covers_at_least(f"share of discordant pairs, {pairs} pairs", covered(*bounds, share))


@pytest.mark.parametrize(("name", "c"), EFFECTS)
@pytest.mark.parametrize("strata", CELLS, ids=str)
def test_factorial_effects(rng, name: str, c: np.ndarray, strata: list[int]) -> None:
    n = np.array(strata)
    p = rates(rng, STUDIES, len(n), 4)
    low, high = contrast_bounds(c, *effective_counts(rng.binomial(n[:, None], p), n[:, None], n / n.sum()))
    truth = np.sum((n / n.sum())[:, None] * c * p, axis=(1, 2))
    assert_covers(f"{name}, trials {strata}", covered(low, high, truth))


@pytest.mark.parametrize(("name", "c"), EFFECTS)
def test_factorial_effects_over_ten_conditions_of_two_trials(rng, name: str, c: np.ndarray) -> None:
    p = rates(rng, STUDIES, 10, 4)
    low, high = contrast_bounds(c, *effective_counts(rng.binomial(2, p), np.full((10, 1), 2), np.full(10, 0.1)))
    assert_covers_at_least(f"{name}, ten pairs of trials", covered(low, high, p.mean(axis=1) @ c))


@pytest.mark.parametrize(("name", "c"), EFFECTS)
@pytest.mark.parametrize("trials", [(50, 40, 24, 10), (50, 50, 50, 12)])
def test_factorial_effects_with_unequal_cells(rng, name: str, c: np.ndarray, trials: tuple[int, ...]) -> None:
    p = rates(rng, STUDIES, 4)
    bounds = contrast_bounds(c, rng.binomial(trials, p), trials)
    assert_covers(f"{name}, cells {trials}", covered(*bounds, p @ c))


@pytest.mark.parametrize("n", SIZES)
def test_simple_effects(rng, n: int) -> None:
    p, c = rates(rng, STUDIES, 2), np.array([1, -1])
    bounds = contrast_bounds(c, rng.binomial(n, p), np.full(2, n))
    assert_covers(f"simple effect, n={n}", covered(*bounds, p @ c))


@pytest.mark.parametrize("strata", [[10], [24], [50], [24, 26], PAPER_STRATA, [2] * 10], ids=str)
def test_posterior_effects(rng, strata: list[int]) -> None:
    n = np.array(strata)
    hits = {"main_a": 0, "interaction": 0}
    for p in rates(rng, FEW, len(n), 4):
        k = rng.binomial(n[:, None], p)
        table = {str(i): [Count(int(x), m) for x in row] for i, (row, m) in enumerate(zip(k, strata, strict=True))}
        found = posterior_effects(table, rng, draws=2000)
        for name, c in (("main_a", MAIN_A), ("interaction", INTERACTION)):
            hits[name] += found[name].low <= np.sum((n / n.sum())[:, None] * c * p) <= found[name].high
    for name, count in hits.items():
        assert_covers(f"posterior {name}, trials {strata}", count / FEW)


def test_posterior_effects_are_not_pulled_together_by_small_strata(rng) -> None:
    """A large effect in ten conditions of two trials each: a prior in each of them would cover 68 %."""
    cells, hits = np.array([0.86, 0.82, 0.74, 0.35]), 0
    for shift in rng.uniform(-0.1, 0.1, (FEW, 10, 1)):
        p = cells + shift
        table = {str(i): [Count(int(x), 2) for x in row] for i, row in enumerate(rng.binomial(2, p))}
        found = posterior_effects(table, rng, draws=2000)["main_a"]
        hits += found.low <= MAIN_A @ p.mean(axis=0) <= found.high
    assert_covers("posterior main effect, large, pairs of trials", hits / FEW)


@pytest.mark.parametrize("n", [10, 24, 50])
def test_graded_superiority(rng, n: int) -> None:
    order, hits = np.arange(6), 0
    for _ in range(FEW):
        first, second = rng.dirichlet(np.ones(6), 2)
        truth = sum(first[i] * (second[:i].sum() + second[i] / 2) for i in order)
        found = compare_progress(rng.choice(order, n, p=first), rng.choice(order, n, p=second))
        hits += found.low <= truth <= found.high
    (assert_covers if n > 20 else assert_covers_at_least)(f"graded superiority, n={n}", hits / FEW)


@pytest.mark.parametrize(("n", "blocks"), [(24, 1), (24, 6), (50, 1), (50, 10)])
def test_the_logistic_effect(rng, n: int, blocks: int) -> None:
    hits = fitted = 0
    high, terms = four_cells(n, blocks)
    for p in rng.uniform(0.2, 0.85, (FEW // 2, 4)):
        model = logistic_sensitivity(list(rng.random(4 * n) < p.repeat(n)), high, terms)
        if not model.problem:
            fitted += 1
            hits += model.effects["a"].low <= MAIN_A @ p <= model.effects["a"].high
    assert fitted > 0.95 * FEW / 2
    assert_covers(f"logistic marginal effect, n={n}, operators and {blocks} blocks", hits / fitted)


def test_betting_sequences_hold_at_every_moment_at_once(rng) -> None:
    """Checked at the true mean, which the interval holds exactly while the capital stays below 1 / alpha."""
    p, q = rates(rng, 2, FEW, 1)
    x = (rng.random((FEW, 100)) < p).astype(float) - (rng.random((FEW, 100)) < q)
    lost = (log_capital((x + 1) / 2, (p - q + 1) / 2, 0.05) >= np.log(20)).any(axis=1)
    assert_covers_at_least("betting sequence over 100 blocks", 1 - float(lost.mean()))


def four_cells(n: int, blocks: int) -> tuple[dict, dict]:
    """Factors and terms of 4 n rows: three operators in turn, blocks of equal size."""
    high = np.array([[1, 1], [1, 0], [0, 1], [0, 0]], dtype=bool).repeat(n, axis=0)
    terms = {"operator": list(np.resize(list("abc"), 4 * n)), "block": [str(i * blocks // n) for i in range(n)] * 4}
    return {"a": high[:, 0], "b": high[:, 1]}, terms
