"""Coverage and type I error by drawn studies: the claims that the results pages rest on. Run by `make check-slow`.

Studies are of the paper's size: 50 trials an arm, true rates drawn anew for each study. `-s` prints the figures.
"""

from itertools import combinations

import numpy as np
import pytest

from labapp.statistics.cautions import stratified_association, stratified_trend
from labapp.statistics.contrasts import mover_bounds
from labapp.statistics.counts import Count
from labapp.statistics.differences import newcombe_bounds
from labapp.statistics.equivalence import equivalence_p, non_inferiority_p
from labapp.statistics.factorial import INTERACTION, MAIN_A, MAIN_B
from labapp.statistics.graded import compare_progress
from labapp.statistics.models import logistic_sensitivity
from labapp.statistics.multiplicity import holm
from labapp.statistics.paired import mcnemar_p, tango_bounds
from labapp.statistics.posterior import posterior_effects
from labapp.statistics.power import factorial_power, rejection_table
from labapp.statistics.proportions import clopper_pearson_bounds, wilson_bounds
from labapp.statistics.sequential import boundaries, compare_blocks, log_capital, pooled_z
from labapp.statistics.strata import effective_counts

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
STUDIES, FEW = 40_000, 2_000
N = 50
PAPER_STRATA = np.array([24, 9, 8, 8, 1])
STRATA = [np.array([50]), np.array([24, 26]), PAPER_STRATA, np.array([2] * 10)]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20260930)


def rates(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.uniform(0.1, 0.95, shape)


def covered(low, high, truth) -> float:
    return float(np.mean((low <= truth + 1e-12) & (truth - 1e-12 <= high)))


def report(name: str, value: float) -> float:
    print(f"{name}: {100 * value:.2f} %")
    return value


def assert_covers(name: str, value: float) -> None:
    assert 0.935 <= report(name, value) <= 0.965


def assert_keeps_level(name: str, value: float) -> None:
    assert report(name, value) <= 0.055


@pytest.mark.parametrize("n", [24, 26, 50])
def test_wilson_covers(rng, n: int) -> None:
    p = rates(rng, STUDIES)
    assert_covers(f"Wilson, n={n}", covered(*wilson_bounds(rng.binomial(n, p), n), p))


def test_clopper_pearson_covers_at_least_what_it_says(rng) -> None:
    p = rates(rng, STUDIES)
    assert (
        report(
            "Clopper-Pearson, n=50 (exact: may cover more)", covered(*clopper_pearson_bounds(rng.binomial(N, p), N), p)
        )
        >= 0.95
    )


@pytest.mark.parametrize("sizes", [(50, 50), (24, 24), (50, 30)])
def test_newcombe_covers(rng, sizes: tuple[int, int]) -> None:
    p = rates(rng, STUDIES, 2)
    k = rng.binomial(sizes, p)
    bounds = newcombe_bounds(k[:, 0], sizes[0], k[:, 1], sizes[1])
    assert_covers(f"Newcombe, n={sizes}", covered(*bounds, p[:, 0] - p[:, 1]))


@pytest.mark.parametrize(
    ("name", "c"), [("main effect", MAIN_A), ("main effect 2", MAIN_B), ("interaction", INTERACTION)]
)
@pytest.mark.parametrize("strata", STRATA, ids=["1", "2", "paper", "pairs"])
def test_factorial_effects_cover(rng, name: str, c: np.ndarray, strata: np.ndarray) -> None:
    p = rates(rng, STUDIES, len(strata), 4)
    k = rng.binomial(strata[:, None], p)
    weights = strata / strata.sum()
    low, high = mover_bounds(c, *effective_counts(k, strata[:, None], weights))
    truth = np.sum(weights[:, None] * c * p, axis=(1, 2))
    assert_covers(f"{name}, strata {strata.tolist()}", covered(low, high, truth))


def test_tango_covers(rng) -> None:
    shares = rng.dirichlet((2, 1, 1, 2), STUDIES)
    drawn = np.array([rng.multinomial(N, share) for share in shares])
    assert_covers("Tango, 50 pairs", covered(*tango_bounds(drawn[:, 1], drawn[:, 2], N), shares[:, 1] - shares[:, 2]))


def test_credible_intervals_cover(rng) -> None:
    hits = 0
    for p in rates(rng, FEW, 4):
        table = {"all": [Count(int(k), N) for k in rng.binomial(N, p)]}
        effect = posterior_effects(table, rng, draws=4000)["main_a"]
        hits += effect.low <= MAIN_A @ p <= effect.high
    assert_covers("posterior main effect", hits / FEW)


def test_graded_comparisons_cover_and_keep_their_level(rng) -> None:
    order = np.arange(6)
    hits = rejections = 0
    for _ in range(FEW):
        first, second = rng.dirichlet(np.ones(6), 2)
        truth = sum(first[i] * (second[:i].sum() + second[i] / 2) for i in order)
        result = compare_progress(rng.choice(order, N, p=first), rng.choice(order, N, p=second))
        hits += result.low <= truth <= result.high
        rejections += compare_progress(rng.choice(order, N, p=first), rng.choice(order, N, p=first)).p < 0.05
    assert_covers("graded superiority", hits / FEW)
    assert_keeps_level("Brunner-Munzel", rejections / FEW)


def test_the_logistic_effect_covers(rng) -> None:
    hits = fitted = 0
    high = np.array([[1, 1], [1, 0], [0, 1], [0, 0]], dtype=bool).repeat(N, axis=0)
    operator = list("abc" * 66 + "ab")
    for p in rng.uniform(0.2, 0.85, (FEW, 4)):
        success = list(rng.random(4 * N) < p.repeat(N))
        model = logistic_sensitivity(success, {"a": high[:, 0], "b": high[:, 1]}, {"operator": operator})
        if not model.problem:
            fitted += 1
            hits += model.effects["a"].low <= MAIN_A @ p <= model.effects["a"].high
    assert fitted > 0.95 * FEW
    assert_covers("logistic marginal effect", hits / fitted)


def test_exact_and_interval_tests_of_two_arms_keep_their_level() -> None:
    """No drawing needed: every outcome of two arms of 24, weighted by its probability, at 46 rates."""
    from scipy import stats

    for test in ("boschloo", "newcombe"):
        rejected = rejection_table(24, 24, 0.05, test)
        chances = [stats.binom.pmf(np.arange(25), 24, p) for p in np.linspace(0.05, 0.95, 46)]
        levels = [c @ rejected @ c for c in chances]
        largest = report(f"{test}, largest exact level", float(max(levels)))
        mean = report(f"{test}, mean exact level", float(np.mean(levels)))
        assert (largest if test == "boschloo" else mean) <= 0.055


def test_main_effects_and_interaction_keep_their_level(rng) -> None:
    """No effect of A, an effect of B; then no interaction."""
    high, low = rates(rng, 2, STUDIES)
    k = rng.binomial(N, np.stack([high, low, high, low], axis=1))
    for name, c in (("main effect", MAIN_A), ("interaction", INTERACTION)):
        below, above = mover_bounds(c, k, N)
        assert_keeps_level(name, float(np.mean((below > 0) | (above < 0))))


def test_stratified_effects_keep_their_level(rng) -> None:
    """The paper's strata, conditions of different difficulty, an effect of B in some of them and none of A."""
    high, low = rates(rng, 2, STUDIES, len(PAPER_STRATA))
    k = rng.binomial(PAPER_STRATA[:, None], np.stack([high, low, high, low], axis=2))
    counts = effective_counts(k, PAPER_STRATA[:, None], PAPER_STRATA / 50)
    for name, c in (("stratified main effect", MAIN_A), ("stratified interaction", INTERACTION)):
        below, above = mover_bounds(c, *counts)
        assert_keeps_level(name, float(np.mean((below > 0) | (above < 0))))


def test_mcnemar_keeps_its_level(rng) -> None:
    discordant = rng.binomial(N, rng.uniform(0.05, 0.6, STUDIES))
    n10 = rng.binomial(discordant, 0.5)
    assert_keeps_level("McNemar", float(np.mean(mcnemar_p(n10, discordant - n10) < 0.05)))


def test_holm_keeps_the_familywise_level(rng) -> None:
    """Five equal arms, ten comparisons by the p-values of the pooled score, any false claim counts."""
    from scipy import stats

    k = rng.binomial(N, rates(rng, 8_000, 1), (8_000, 5))
    p = np.stack([2 * stats.norm.sf(np.abs(pooled_z(k[:, i], N, k[:, j], N))) for i, j in combinations(range(5), 2)], 1)
    assert_keeps_level("Holm over ten pairs", float(np.mean([min(holm(list(row))) < 0.05 for row in p])))


@pytest.mark.parametrize("margin", [0.1, 0.2])
def test_equivalence_and_non_inferiority_keep_their_level_at_the_margin(rng, margin: float) -> None:
    p2 = rng.uniform(0.3, 0.9, STUDIES)
    k1, k2 = rng.binomial(N, p2 - margin), rng.binomial(N, p2)
    assert_keeps_level(
        f"non-inferiority, margin {margin}", float(np.mean(non_inferiority_p(k1, N, k2, N, margin) < 0.05))
    )
    assert_keeps_level(f"equivalence, margin {margin}", float(np.mean(equivalence_p(k1, N, k2, N, margin) < 0.05)))


@pytest.mark.parametrize("shape", ["obrien-fleming", "pocock"])
def test_group_sequential_looks_keep_their_level(rng, shape: str) -> None:
    looks = np.array([10, 20, 30, 40, 50])
    p = rates(rng, STUDIES)
    x = rng.random((2, STUDIES, N)) < p[:, None]
    k1, k2 = np.cumsum(x, axis=2)[:, :, looks - 1]
    crossed = np.abs(pooled_z(k1, looks, k2, looks)) >= boundaries(list(looks / N), shape=shape)
    assert_keeps_level(f"group sequential, {shape}, five looks", float(crossed.any(axis=1).mean()))


def test_betting_on_every_pair_of_five_arms_at_every_block_keeps_the_level(rng) -> None:
    studies, blocks = 4_000, 100
    x = rng.random((studies, blocks, 5)) < rates(rng, studies, 1, 1)
    alpha = 0.05 / 10
    decided = np.zeros(studies, dtype=bool)
    for i, j in combinations(range(5), 2):
        values = (x[:, :, i].astype(float) - x[:, :, j] + 1) / 2
        decided |= (log_capital(values, 0.5, alpha) >= np.log(1 / alpha)).any(axis=1)
    assert_keeps_level("betting, five arms, peeking at each of 100 blocks", float(decided.mean()))


def test_betting_sequences_cover_at_every_moment_at_once(rng) -> None:
    """Checked at the true mean, which the interval holds exactly while the capital stays below 1 / alpha."""
    p, q = rates(rng, 2, STUDIES // 4, 1)
    x = (rng.random((STUDIES // 4, 100)) < p).astype(float) - (rng.random((STUDIES // 4, 100)) < q)
    truth = (p - q + 1) / 2
    lost = (log_capital((x + 1) / 2, truth, 0.05) >= np.log(20)).any(axis=1)
    assert report("betting sequence, always covering (may cover more)", 1 - float(lost.mean())) >= 0.945


def test_the_comparison_of_blocks_finds_the_papers_gap_while_peeking(rng) -> None:
    found = sum(
        compare_blocks(rng.random((N, 2)) < np.array([0.86, 0.52]), ["GG", "real"])[0].decided_at is not None
        for _ in range(300)
    )
    assert report("betting power for .86 against .52 within 50 blocks", found / 300) > 0.5


def test_drift_and_operator_checks_keep_their_level(rng) -> None:
    strata = np.repeat(np.arange(10), 20).tolist()
    order, operator = np.tile(np.arange(20), 10), list("abcd") * 50
    rejected = np.zeros(2)
    for p in rates(rng, 8 * FEW, 10):
        success = rng.random(200) < p.repeat(20)
        rejected += (
            stratified_trend(success, order, strata)[1] < 0.05,
            stratified_association(success, operator, strata) < 0.05,
        )
    assert_keeps_level("drift", rejected[0] / (8 * FEW))
    assert_keeps_level("operators", rejected[1] / (8 * FEW))


@pytest.mark.parametrize("n", [24, 50, 100, 200])
@pytest.mark.parametrize("cells", [(0.86, 0.82, 0.74, 0.58), (0.6, 0.5, 0.4, 0.45)])
def test_power_formula_agrees_with_drawn_studies_within_two_points(n: int, cells: tuple[float, ...]) -> None:
    formula, drawn = factorial_power(cells, n), factorial_power(cells, n, method="simulated")
    assert np.max(np.abs(np.subtract(formula[1:], drawn[1:]))) <= 0.02
