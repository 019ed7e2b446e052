"""Differences of two rates."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import confint_proportions_2indep

from labapp.statistics.differences import boschloo_table, difference, exact_p, newcombe_bounds

counts = st.integers(1, 80).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def test_newcombe_gives_the_published_difference() -> None:
    result = difference(43, 50, 26, 50)
    assert result.estimate == pytest.approx(0.34)
    assert (result.low, result.high) == pytest.approx((0.160, 0.492), abs=5e-4)
    assert result.p < 0.001


@given(counts, counts)
def test_newcombe_agrees_with_statsmodels(first: tuple[int, int], second: tuple[int, int]) -> None:
    low, high = newcombe_bounds(*first, *second)
    reference = confint_proportions_2indep(*first, *second, method="newcomb")
    assert (float(low), float(high)) == pytest.approx(reference, abs=1e-9)


@given(counts, counts)
def test_swapping_the_arms_mirrors_the_interval(first: tuple[int, int], second: tuple[int, int]) -> None:
    low, high = newcombe_bounds(*first, *second)
    mirrored_low, mirrored_high = newcombe_bounds(*second, *first)
    assert (float(low), float(high)) == pytest.approx((-float(mirrored_high), -float(mirrored_low)), abs=1e-12)


def test_boschloo_is_at_least_as_powerful_as_fisher() -> None:
    for k1 in range(11, 20):
        assert exact_p(k1, 20, 9, 20) <= exact_p(k1, 20, 9, 20, "fisher") + 1e-9


def test_the_table_of_all_boschloo_values_agrees_with_scipy() -> None:
    table = boschloo_table(9, 7)
    assert table.shape == (10, 8)
    for k1, k2 in [(0, 7), (1, 5), (4, 3), (8, 2), (9, 0)]:
        assert table[k1, k2] == pytest.approx(exact_p(k1, 9, k2, 7), abs=2e-4)


def test_barnard_gives_the_value_of_the_vaccine_example() -> None:
    assert exact_p(7, 15, 12, 15, "barnard") == pytest.approx(0.0682, abs=5e-4)  # Mehta & Senchaudhuri 2003, doubled


@pytest.mark.parametrize(("k1", "k2"), [(0, 0), (20, 20)])
def test_all_alike_is_no_evidence(k1: int, k2: int) -> None:
    assert exact_p(k1, 20, k2, 20) == 1


def test_an_arm_without_trials_gives_no_difference() -> None:
    assert difference(0, 0, 3, 5)[:4] == (None, None, None, None)


def test_very_many_trials_are_compared_by_fishers_test_and_say_so() -> None:
    result = difference(14_200, 20_000, 14_000, 20_000)
    assert result.test == "fisher"
    assert 0.01 < result.p < 0.05


def test_a_bad_count_names_its_arm() -> None:
    with pytest.raises(ValueError, match="second arm: 9 successes of 5 trials"):
        difference(1, 5, 9, 5)
