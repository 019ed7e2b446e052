"""Effects of the 2 x 2 design: the paper's identity, a real case, strata and empty cells."""

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.statistics.contrasts import contrast, contrast_bounds, contrast_p
from labapp.statistics.counts import Count
from labapp.statistics.differences import newcombe_bounds
from labapp.statistics.factorial import factorial, pooled
from labapp.statistics.rows import factorial_table, order_levels, tally
from labapp.statistics.strata import effective_counts

cell = st.integers(1, 60).flatmap(lambda n: st.builds(Count, st.integers(0, n), st.just(n)))
four_cells = st.lists(cell, min_size=4, max_size=4)
PUBLISHED = {"all": [Count(43, 50), Count(0, 0), Count(0, 0), Count(29, 50)]}  # GU and UG were not published


def spoon_rows(folder: Path) -> list[dict[str, str]]:
    """The paired files as one row per rollout: method, category, success."""
    rows = []
    for category in ("control", "semantic"):
        with (folder / f"{category}_n10.csv").open(newline="") as file:
            for row in csv.DictReader(file):
                rows += [
                    {"method": method, "category": category, "success": row[f"{method}_success"]}
                    for method in ("baseline", "cgvd")
                ]
    return rows


def test_the_published_totals_alone_give_the_sum_of_the_main_effects() -> None:
    effects = factorial(PUBLISHED).effects
    assert effects["both"].estimate == pytest.approx(0.28)
    assert (effects["main_a"], effects["main_b"], effects["interaction"]) == (None, None, None)


@pytest.mark.parametrize("ug", range(47))
def test_the_published_main_effects_need_gu_four_trials_above_ug(ug: int) -> None:
    """World +18 and behavior +10 follow from the published corners and GU - UG = +4 trials, whatever UG is."""
    effects = factorial({"all": [Count(43, 50), Count(ug + 4, 50), Count(ug, 50), Count(29, 50)]}).effects
    assert effects["main_a"].estimate == pytest.approx(0.18)
    assert effects["main_b"].estimate == pytest.approx(0.10)


def test_a_real_factorial_gives_its_known_effects(shared_data: Path) -> None:
    rows = spoon_rows(shared_data / "outcomes_pi0_spoon")
    counts = tally(rows, ["method", "category"], "success")
    levels = [order_levels([row[name] for row in rows], name) for name in ("method", "category")]
    result = factorial(factorial_table(counts, levels))
    points = {name: round(100 * effect.estimate, 6) for name, effect in result.effects.items()}
    assert (points["main_a"], points["main_b"]) == (16.0, -5.0)
    assert result.half_interaction == pytest.approx(0.055)
    assert result.effects["main_a"].low > 0
    assert result.effects["main_b"].low < 0 < result.effects["main_b"].high


@pytest.mark.parametrize(("first", "second"), [((43, 50), (29, 50)), ((20, 24), (11, 26)), ((80, 100), (75, 100))])
def test_a_contrast_of_two_cells_lies_near_newcombe(first: tuple[int, int], second: tuple[int, int]) -> None:
    cells = [Count(*first), Count(*second), Count(1, 2), Count(1, 2)]
    effect = factorial({"all": cells}).effects["b_at_high_a"]
    low, high = newcombe_bounds(*first, *second)
    assert (effect.low, effect.high) == pytest.approx((float(low), float(high)), abs=0.035)


@settings(max_examples=50, deadline=None)
@given(four_cells)
def test_an_interval_holds_its_estimate_and_stays_within_reach(cells: list[Count]) -> None:
    for name, effect in factorial({"all": cells}).effects.items():
        reach = 2 if name == "interaction" else 1
        assert -reach <= effect.low <= effect.estimate + 1e-12
        assert effect.estimate - 1e-12 <= effect.high <= reach


def test_with_many_trials_the_interval_is_walds() -> None:
    p, n = np.array([0.86, 0.82, 0.74, 0.58]), 100_000
    c = np.array([0.5, 0.5, -0.5, -0.5])
    error = np.sqrt(np.sum(c**2 * p * (1 - p) / n))
    assert contrast_bounds(c, p * n, np.full(4, n)) == pytest.approx(
        (0.18 - 1.96 * error, 0.18 + 1.96 * error), abs=1e-4
    )


@settings(max_examples=20, deadline=None)
@given(four_cells)
def test_swapping_the_factors_swaps_the_main_effects_and_keeps_the_interaction(cells: list[Count]) -> None:
    here = factorial({"all": cells}).effects
    there = factorial({"all": [cells[0], cells[2], cells[1], cells[3]]}).effects
    assert here["main_a"] == pytest.approx(there["main_b"])
    assert here["interaction"] == pytest.approx(there["interaction"])


@settings(max_examples=20, deadline=None)
@given(four_cells)
def test_the_p_value_and_the_interval_tell_the_same(cells: list[Count]) -> None:
    for effect in factorial({"all": cells}).effects.values():
        if abs(effect.p - 0.05) > 1e-6:
            assert (effect.p < 0.05) == (effect.low > 0 or effect.high < 0)


def test_balanced_strata_keep_the_pooled_estimate() -> None:
    table = {
        "nominal": [Count(22, 24), Count(21, 24), Count(19, 24), Count(15, 24)],
        "shifted": [Count(21, 26), Count(20, 26), Count(18, 26), Count(14, 26)],
    }
    stratified, together = factorial(table).effects, factorial(pooled(table)).effects
    for name, effect in stratified.items():
        assert effect.estimate == pytest.approx(together[name].estimate)


def test_an_arm_with_more_easy_trials_gains_nothing() -> None:
    """All arms are equal within each condition; one ran mostly easy trials. Pooling would show an effect."""
    table = {
        "easy": [Count(72, 80), Count(9, 10), Count(9, 10), Count(9, 10)],
        "hard": [Count(1, 10), Count(8, 80), Count(8, 80), Count(8, 80)],
    }
    assert factorial(table).effects["main_a"].estimate == pytest.approx(0)
    assert factorial(pooled(table)).effects["main_a"].estimate > 0.25


def test_a_stratum_with_an_empty_cell_is_left_out_and_named() -> None:
    table = {
        "nominal": [Count(9, 10), Count(8, 10), Count(7, 10), Count(6, 10)],
        "red light": [Count(5, 10), Count(0, 0), Count(4, 10), Count(3, 10)],
    }
    result = factorial(table)
    assert result.left_out == ("red light",)
    assert result.weights == {"nominal": 1.0}
    assert result.effects["main_a"].estimate == pytest.approx(0.2)


def test_one_stratum_keeps_exactly_its_counts_and_many_stay_near_them() -> None:
    k, n = np.array([[43, 41, 37, 0]]), np.array([[50, 50, 50, 50]])
    one = effective_counts(k, n, [1.0])
    assert np.allclose(one, (k[0], n[0]))
    k, n = np.array([[20, 0, 24], [20, 0, 26]]), np.array([[24, 24, 24], [26, 26, 26]])
    successes, trials = effective_counts(k, n, [0.48, 0.52])
    assert trials == pytest.approx([50, 50, 50], rel=0.1)
    assert successes[1:] == pytest.approx([0, 50])


def test_a_cell_without_trials_in_one_stratum_has_no_effective_counts() -> None:
    assert np.array_equal(effective_counts([[3], [0]], [[5], [0]], [0.5, 0.5]), [[0], [0]])


def test_equal_weights_count_a_small_stratum_as_much_as_a_large_one() -> None:
    table = {
        "large": [Count(50, 100)] * 4,
        "small": [Count(10, 10), Count(10, 10), Count(0, 10), Count(0, 10)],
    }
    assert factorial(table, weighting="equal").effects["main_a"].estimate == pytest.approx(0.5)
    assert factorial(table).effects["main_a"].estimate == pytest.approx(1 / 11)


def test_wrong_shapes_and_weightings_are_refused() -> None:
    with pytest.raises(ValueError, match="stratum 'all' has 3 cells"):
        factorial({"all": [Count(1, 2)] * 3})
    with pytest.raises(ValueError, match="size or equal"):
        factorial({"all": [Count(1, 2)] * 4}, weighting="inverse")


def test_no_cells_give_no_effects() -> None:
    assert set(factorial({}).effects.values()) == {None}


def test_contrasts_of_many_studies_at_once_equal_one_by_one() -> None:
    rng = np.random.default_rng(1)
    k, c = rng.integers(0, 21, (30, 4)), np.array([0.5, 0.5, -0.5, -0.5])
    low, high = contrast_bounds(c, k, np.full(4, 20))
    p = contrast_p(c, k, np.full(4, 20))
    for i in range(30):
        one = contrast(c, k[i], [20] * 4)
        assert (one.low, one.high, one.p) == pytest.approx((low[i], high[i], p[i]))
