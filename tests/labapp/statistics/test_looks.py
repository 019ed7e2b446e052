"""Planned looks and confidence sequences over blocks of several arms."""

import numpy as np
import pytest
from scipy import optimize, stats

from labapp.statistics.contrasts import contrast_p
from labapp.statistics.factorial import MAIN_A
from labapp.statistics.looks import (
    Rule,
    contrast_z,
    effect_comparison,
    finished_blocks,
    follow,
    judge_looks,
    pair_comparison,
    pair_comparisons,
    planned_looks,
)
from labapp.statistics.looks_wording import courses_verdict, judged_sentence, looks_position, looks_verdict, signed
from labapp.statistics.power import pair_power
from labapp.statistics.sequential import betting_sequence, boundaries, pooled_z
from labapp.statistics.sequential_power import LARGEST_DRIFT, crossing_chances, effect_stopping, pair_stopping

ARMS = ("GG", "GU", "UG", "UU")
CELLS = [("GG",), ("GU",), ("UG",), ("UU",)]
FIVE = Rule("group-sequential", blocks=20, looks=5)


def blocks(*rates: float, n: int = 20) -> np.ndarray:
    """Every arm's successes spread evenly over the blocks."""
    steps = np.arange(1, n + 1)[:, None] * np.array(rates)
    return np.floor(steps + 1e-9) - np.floor(steps - np.array(rates) + 1e-9)


def test_looks_are_spread_evenly_and_never_more_than_the_blocks() -> None:
    assert planned_looks(25, 2) == [12, 25]
    assert planned_looks(50, 4) == [12, 25, 38, 50]
    assert planned_looks(3, 10) == [1, 2, 3]


@pytest.mark.parametrize(
    ("kind", "values"), [("weekly", {}), ("group-sequential", {}), ("group-sequential", {"blocks": 9, "looks": 0})]
)
def test_an_impossible_rule_is_refused(kind: str, values: dict) -> None:
    with pytest.raises(ValueError, match=r"unknown rule|at least 1"):
        Rule(kind, **values)


def test_finished_blocks_count_from_the_first_without_a_gap_and_wait_for_no_withdrawn_arm() -> None:
    outcomes = np.array([[1, 0], [1, np.nan], [np.nan, 1], [1, 1]])
    assert finished_blocks(outcomes, [True, True]) == 1
    assert finished_blocks(outcomes, [True, False]) == 2
    assert finished_blocks(outcomes[:1], [True, True]) == 1
    assert finished_blocks(np.empty((0, 2)), [True, True]) == 0


def test_a_look_rests_on_the_blocks_up_to_it_alone() -> None:
    comparison = pair_comparison(("A", "B"), "A", "B")
    outcomes = blocks(0.9, 0.5)
    at_eight = judge_looks(outcomes[:8], [comparison], FIVE)[0].looks
    assert judge_looks(outcomes, [comparison], FIVE)[0].looks[:2] == at_eight
    assert at_eight[1].z == pytest.approx(float(pooled_z(*(outcomes[:8, 0].sum(), 8), outcomes[:8, 1].sum(), 8)))


def test_boundaries_are_those_of_the_spending_function() -> None:
    open_ = judge_looks(blocks(0.5, 0.5), pair_comparisons(("A", "B")), FIVE)[0]
    assert [look.boundary for look in open_.looks] == pytest.approx(boundaries([0.2, 0.4, 0.6, 0.8, 1]))


def test_a_decided_comparison_is_looked_at_no_more_and_hands_its_share_on() -> None:
    comparisons = [effect_comparison(ARMS, CELLS, effect, effect) for effect in ("main_a", "main_b")]
    world, behavior = judge_looks(blocks(1, 1, 0, 0), comparisons, FIVE)
    assert world.crossed is not None and world.looks[-1] == world.crossed
    later = behavior.looks[world.crossed.number - 1 :]
    assert [look.boundary for look in later] == pytest.approx(FIVE.edges(1)[world.crossed.number - 1 :])
    assert [look.boundary for look in behavior.looks[: world.crossed.number - 1]] == pytest.approx(
        FIVE.edges(2)[: world.crossed.number - 1]
    )


def test_without_splitting_each_comparison_has_the_whole_level() -> None:
    rule = Rule("group-sequential", is_split=False, blocks=20, looks=5)
    assert rule.edges(6) == rule.edges(1)


def test_reserved_comparisons_keep_their_share_whatever_is_decided() -> None:
    rule = Rule("group-sequential", blocks=20, looks=5, reserved=2)
    assert rule.edges(1) == FIVE.edges(3)


def test_a_missing_trial_leaves_its_comparisons_unjudged_and_the_others_alone() -> None:
    outcomes = blocks(0.9, 0.5, 0.4)
    outcomes[6:, 2] = np.nan
    first, second, _ = judge_looks(outcomes[:8], pair_comparisons("ABC"), FIVE)
    assert [look.z is None for look in first.looks] == [False, False]
    assert [look.z is None for look in second.looks] == [False, True]
    assert second.is_lost


def test_an_effects_z_is_the_quantile_of_its_p_value() -> None:
    k = np.array([43, 41, 37, 29])
    z = float(contrast_z(MAIN_A, k, 50))
    assert z == pytest.approx(stats.norm.isf(float(contrast_p(MAIN_A, k, 50)) / 2))
    assert float(contrast_z(-MAIN_A, k, 50)) == pytest.approx(-z)
    assert np.isfinite(contrast_z(MAIN_A, [10**6, 10**6, 0, 0], 10**6))


def test_three_arms_are_followed_at_once_and_a_clear_one_is_decided() -> None:
    rng = np.random.default_rng(0)
    found = follow(rng.random((60, 3)) < np.array([0.95, 0.5, 0.5]), pair_comparisons("ABC"), Rule("anytime"))
    assert [course.comparison.key for course in found] == ["A:B", "A:C", "B:C"]
    assert found[0].lows[-1] > 0
    assert found[0].decided_at is not None
    assert found[2].decided_at is None
    assert found[2].lows[-1] < 0 < found[2].highs[-1]


def test_a_pairs_sequence_is_the_betting_sequence_of_its_differences_at_its_share_of_the_level() -> None:
    outcomes = blocks(0.9, 0.5, 0.2, n=60)
    outcomes[40:, 2] = np.nan
    for course, (i, j) in zip(
        follow(outcomes, pair_comparisons("ABC"), Rule("anytime")), ((0, 1), (0, 2), (1, 2)), strict=True
    ):
        d = outcomes[:, i] - outcomes[:, j]
        low, high = (2 * bound - 1 for bound in betting_sequence((d[~np.isnan(d)] + 1) / 2, 0.05 / 3))
        assert (course.lows, course.highs) == (pytest.approx(low), pytest.approx(high))
        excluding = np.flatnonzero((low > 0) | (high < 0)) + 1
        assert course.decided_at == (excluding[0] if len(excluding) else None)


def test_a_block_that_lacks_an_arm_counts_for_the_other_pairs_only() -> None:
    outcomes = [[1, 0, 1], [1, np.nan, 0], [0, 0, np.nan]]
    found = follow(outcomes, pair_comparisons("ABC"), Rule("anytime"))
    assert [len(course.blocks) for course in found] == [2, 2, 1]


def test_no_common_block_decides_nothing() -> None:
    (found,) = follow([[1, np.nan]], pair_comparisons("AB"), Rule("anytime"))
    assert (found.blocks, found.lows, found.highs, found.decided_at) == ((), (), (), None)


def test_a_sequence_of_an_effect_lies_within_its_reach_and_narrows() -> None:
    comparison = effect_comparison(ARMS, CELLS, "interaction", "interaction")
    (course,) = follow(blocks(1, 0, 0, 1, n=40), [comparison], Rule("anytime"))
    assert -2 <= course.lows[0] <= course.lows[-1] <= course.estimates[-1] <= course.highs[-1] <= 2
    assert course.decided_at is not None
    assert course.estimates[-1] == 2


def test_several_arms_in_a_cell_share_its_weight() -> None:
    comparison = effect_comparison(("a", "b", "c", "d", "e"), [("a", "b"), ("c",), ("d",), ("e",)], "main_a", "world")
    assert comparison.coefficients == (0.25, 0.25, 0.5, -0.5, -0.5)


@pytest.mark.parametrize("call", [
    lambda: pair_comparison(("A", "B"), "A", "C"),
    lambda: pair_comparison(("A", "B"), "A", "A"),
    lambda: effect_comparison(ARMS, [("GG",), (), ("UG",), ("UU",)], "main_a", "world"),
])  # fmt: skip
def test_a_comparison_of_what_is_not_there_is_refused(call) -> None:
    with pytest.raises(ValueError, match=r"names no two of the arms|needs an arm in each"):
        call()


def test_verdicts_in_every_state() -> None:
    comparisons = pair_comparisons("AB")

    def verdict(table: np.ndarray, **values) -> tuple[str, str]:
        word, sentence = looks_verdict(judge_looks(table, comparisons, FIVE), FIVE, len(table), **values)
        return word, sentence.split(":")[0] + sentence[-1]

    even, clear = blocks(0.5, 0.5), blocks(1, 0)
    assert looks_position(FIVE, 9) == "9 of 20 blocks are finished; next look after block 12 of 20"
    assert verdict(even[:3]) == ("go on", "Go on.")
    assert verdict(even[:9])[0] == "go on"
    assert verdict(even[:9], has_ended=True)[0] == "stop"
    assert verdict(even)[0] == "stop"
    assert looks_verdict(judge_looks(clear[:9], comparisons, FIVE), FIVE, 9) == (
        "stop", "Stop: boundary crossed at look 2.",
    )  # fmt: skip
    assert "no difference shown at the last look" in judged_sentence(judge_looks(even, comparisons, FIVE)[0], FIVE)


def test_an_anytime_verdict_may_end_a_study_undecided() -> None:
    rule = Rule("anytime", blocks=20)
    courses = follow(blocks(0.5, 0.5)[:9], pair_comparisons("AB"), rule)
    assert courses_verdict(courses, rule, 9).word == "go on"
    assert courses_verdict(courses, rule, 9, has_ended=True).word == "stop"
    assert courses_verdict(follow(blocks(0.5, 0.5), pair_comparisons("AB"), rule), rule, 20).word == "stop"


def test_a_zero_has_no_sign() -> None:
    assert (signed(0.001), signed(-0.001), signed(-1.5), signed(None)) == ("0.00", "0.00", "−1.50", "none")


def test_without_effect_the_boundaries_spend_exactly_the_level() -> None:
    for looks in (1, 2, 5):
        fractions = [look / looks for look in range(1, looks + 1)]
        assert sum(crossing_chances(0.0, fractions, boundaries(fractions))) == pytest.approx(0.05, abs=1e-4)


def drift_for_power(fractions: tuple[float, ...], edges: tuple[float, ...], power: float) -> float:
    """The drift that these looks find with the given power."""

    def lacking(drift: float) -> float:
        return sum(crossing_chances(drift, fractions, edges)) - power

    return optimize.brentq(lacking, 0.0, LARGEST_DRIFT, xtol=1e-4)


def test_the_classical_price_of_looking() -> None:
    """Five looks of O'Brien and Fleming's kind ask for about 3 % more trials, Pocock's for about 21 %."""
    fractions = (0.2, 0.4, 0.6, 0.8, 1.0)
    fixed = drift_for_power((1.0,), (1.959964,), 0.8)
    assert fixed == pytest.approx(2.8016, abs=1e-3)
    for shape, price in (("obrien-fleming", 1.025), ("pocock", 1.21)):
        drift = drift_for_power(fractions, tuple(boundaries(fractions, shape=shape)), 0.8)
        assert (drift / fixed) ** 2 == pytest.approx(price, abs=0.025)


def test_one_look_of_a_pair_is_close_to_the_exact_test() -> None:
    one = pair_stopping(0.86, 0.58, [50], [1.959964])
    assert one.power == pytest.approx(pair_power(0.86, 0.58, 50, 50), abs=0.03)
    assert one.expected == 50


def test_certain_outcomes_are_found_as_soon_as_the_boundary_allows() -> None:
    found = effect_stopping([1, 1, 0, 0], MAIN_A, [10, 20, 50], (4.0, 3.0, 2.0))
    assert found.power == pytest.approx(1)
    assert found.expected < 50
