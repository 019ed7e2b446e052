"""Peeking keeps the level with many arms, and power with looks is what drawn studies give. Run by `make check-slow`.

Studies are of the paper's size: blocks of five arms, 50 blocks; `-s` prints the figures.
"""

from itertools import combinations

import numpy as np
import pytest

from labapp.statistics.factorial import EFFECTS
from labapp.statistics.looks import (
    Rule,
    contrast_z,
    effect_comparison,
    follow,
    judge_looks,
    pair_comparisons,
)
from labapp.statistics.sequential import log_capital, pooled_z
from labapp.statistics.sequential_power import draw_bets, effect_stopping, pair_stopping

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
STUDIES, FEW, BLOCKS = 20_000, 2_000, 50
PAPER = (0.86, 0.82, 0.74, 0.58)
LOOKS = [(2, "obrien-fleming"), (5, "obrien-fleming"), (5, "pocock"), (10, "pocock")]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20261130)


def report(name: str, value: float) -> float:
    print(f"{name}: {100 * value:.2f} %")
    return value


def assert_keeps_level(name: str, value: float) -> None:
    assert report(name, value) <= 0.055


def counts_at(rng: np.random.Generator, rates: np.ndarray, looks: list[int]) -> np.ndarray:
    """Successes of every arm at every look, shape (studies, looks, arms)."""
    steps = np.diff([0, *looks])
    return np.cumsum(rng.binomial(steps[:, None], rates[:, None, :]), axis=1)


@pytest.mark.parametrize(("looks", "shape"), LOOKS)
def test_looks_at_every_pair_of_five_arms_keep_the_familywise_level(rng, looks: int, shape: str) -> None:
    rule = Rule("group-sequential", blocks=BLOCKS, looks=looks, shape=shape)
    n = np.array(rule.look_blocks)
    k = counts_at(rng, rng.uniform(0.1, 0.95, (STUDIES, 1)).repeat(5, axis=1), rule.look_blocks)
    crossed = np.zeros(STUDIES, dtype=bool)
    for i, j in combinations(range(5), 2):
        crossed |= (np.abs(pooled_z(k[..., i], n, k[..., j], n)) >= rule.edges(10)).any(axis=1)
    assert_keeps_level(f"{looks} looks, {shape}, ten pairs", float(crossed.mean()))


@pytest.mark.parametrize(("looks", "shape"), LOOKS)
def test_looks_at_three_effects_keep_the_familywise_level(rng, looks: int, shape: str) -> None:
    """No effect of either factor and no interaction: the four cells are alike."""
    rule = Rule("group-sequential", blocks=BLOCKS, looks=looks, shape=shape)
    n = np.array(rule.look_blocks)[:, None]
    k = counts_at(rng, rng.uniform(0.1, 0.95, (STUDIES, 1)).repeat(4, axis=1), rule.look_blocks)
    crossed = np.zeros(STUDIES, dtype=bool)
    for c in EFFECTS.values():
        crossed |= (np.abs(contrast_z(c, k, n)) >= rule.edges(3)).any(axis=1)
    assert_keeps_level(f"{looks} looks, {shape}, three effects", float(crossed.mean()))


@pytest.mark.parametrize("shape", ["obrien-fleming", "pocock"])
def test_what_holm_hands_on_at_a_look_keeps_the_level_of_the_true_nulls(rng, shape: str) -> None:
    """A strong effect of A is found early and hands its share on; B has no effect. The product's own procedure."""
    rule = Rule("group-sequential", blocks=BLOCKS, looks=5, shape=shape)
    cells = [("GG",), ("GU",), ("UG",), ("UU",)]
    arms = [cell[0] for cell in cells]
    comparisons = [effect_comparison(arms, cells, effect, effect) for effect in ("main_a", "main_b")]
    wrong = 0
    for low in rng.uniform(0.1, 0.5, FEW):
        outcomes = (rng.random((BLOCKS, 4)) < [low + 0.45, low + 0.45, low, low]).astype(float)
        wrong += judge_looks(outcomes, comparisons, rule)[1].crossed is not None
    assert_keeps_level(f"Holm at five looks, {shape}", wrong / FEW)


def test_a_look_after_every_invalid_repeat_and_a_withdrawn_arm_keep_the_level(rng) -> None:
    """Five arms, one withdrawn after block 20: its pairs are judged no more, the others keep their level."""
    rule = Rule("group-sequential", blocks=BLOCKS, looks=5)
    comparisons = pair_comparisons("ABCDE")
    wrong = 0
    for rate in rng.uniform(0.2, 0.9, FEW):
        outcomes = (rng.random((BLOCKS, 5)) < rate).astype(float)
        outcomes[20:, 4] = np.nan
        wrong += any(j.crossed for j in judge_looks(outcomes, comparisons, rule))
    assert_keeps_level("five looks, an arm withdrawn", wrong / FEW)


@pytest.mark.parametrize("arms", [3, 5])
def test_betting_after_every_block_keeps_the_familywise_level(rng, arms: int) -> None:
    pairs = list(combinations(range(arms), 2))
    alpha = 0.05 / len(pairs)
    x = (rng.random((4_000, 120, arms)) < rng.uniform(0.1, 0.95, (4_000, 1, 1))).astype(float)
    decided = np.zeros(4_000, dtype=bool)
    for i, j in pairs:
        decided |= (log_capital((x[..., i] - x[..., j] + 1) / 2, 0.5, alpha) >= np.log(1 / alpha)).any(axis=1)
    assert_keeps_level(f"betting, {arms} arms, 120 blocks", float(decided.mean()))


def test_the_pages_confidence_sequences_keep_the_level_of_pairs_and_effects(rng) -> None:
    """The product's own procedure: three arms' pairs, read after every block."""
    comparisons, rule = pair_comparisons("ABC"), Rule("anytime")
    wrong = 0
    for rate in rng.uniform(0.2, 0.9, FEW):
        outcomes = (rng.random((40, 3)) < rate).astype(float)
        wrong += any(course.decided_at for course in follow(outcomes, comparisons, rule))
    assert_keeps_level("confidence sequences of three arms", wrong / FEW)


@pytest.mark.parametrize(("looks", "shape"), LOOKS)
@pytest.mark.parametrize("n", [50, 100])
def test_power_of_effects_with_looks_agrees_with_drawn_studies_within_two_points(rng, n, looks, shape) -> None:
    rule = Rule("group-sequential", blocks=n, looks=looks, shape=shape, is_split=False)
    ns = np.array(rule.look_blocks)
    k = counts_at(rng, np.tile(PAPER, (STUDIES, 1)), rule.look_blocks)
    for effect, c in EFFECTS.items():
        planned = effect_stopping(PAPER, c, rule.look_blocks, rule.edges(1))
        crossed = np.abs(contrast_z(c, k, ns[:, None])) >= rule.edges(1)
        drawn = report(f"{effect}, n={n}, {looks} looks, {shape}", float(crossed.any(axis=1).mean()))
        report("  planned", planned.power)
        length = np.where(crossed.any(axis=1), ns[crossed.argmax(axis=1)], n).mean()
        assert planned.power == pytest.approx(drawn, abs=0.02)
        assert planned.expected == pytest.approx(length, abs=0.04 * n)


@pytest.mark.parametrize(("looks", "shape"), LOOKS)
def test_power_of_pairs_with_looks_is_that_of_drawn_studies(rng, looks: int, shape: str) -> None:
    rule = Rule("group-sequential", blocks=BLOCKS, looks=looks, shape=shape)
    n = np.array(rule.look_blocks)
    k = counts_at(rng, np.tile((0.86, 0.58), (STUDIES, 1)), rule.look_blocks)
    crossed = np.abs(pooled_z(k[..., 0], n, k[..., 1], n)) >= rule.edges(6)
    planned = pair_stopping(0.86, 0.58, rule.look_blocks, rule.edges(6))
    assert planned.power == pytest.approx(float(crossed.any(axis=1).mean()), abs=0.01)
    length = np.where(crossed.any(axis=1), n[crossed.argmax(axis=1)], BLOCKS).mean()
    assert planned.expected == pytest.approx(length, abs=0.5)


def test_power_of_betting_is_that_of_the_pages_own_sequences(rng) -> None:
    comparisons, rule = pair_comparisons("AB"), Rule("anytime")
    planned = draw_bets((0.9, 0.5), [comparisons[0].coefficients], BLOCKS, [0.05])[0]
    found = sum(
        follow((rng.random((BLOCKS, 2)) < (0.9, 0.5)).astype(float), comparisons, rule)[0].decided_at is not None
        for _ in range(FEW)
    )
    assert planned.power(BLOCKS) == pytest.approx(report("betting, drawn", found / FEW), abs=0.03)
