"""Power before anything is locked, and trials still missing afterwards."""

import numpy as np
import pytest
from scipy import stats

from labapp.statistics.power import (
    contrast_error,
    curve,
    detectable_difference,
    detectable_interaction,
    detectable_main_effect,
    factorial_power,
    more_trials_to_resolve,
    normal_power,
    pair_power,
    rejection_table,
    trials_for_power,
)

PAPER = [0.86, 0.82, 0.74, 0.58]


def test_the_published_design_has_its_known_power() -> None:
    """Two-sided 5 % Wald test of the unpooled contrast: Phi(|effect| / SE - 1.96)."""
    power = factorial_power(PAPER, 50)
    assert power.main_a == pytest.approx(0.86, abs=0.005)
    assert power.main_b == pytest.approx(0.39, abs=0.005)


def test_the_pages_test_has_a_little_less_than_that_power() -> None:
    """It keeps its level where Wald's does not: that costs two points at 50 trials a cell."""
    simulated = factorial_power(PAPER, 50, method="simulated")
    assert simulated.main_a == pytest.approx(0.842, abs=0.005)
    assert simulated.main_b == pytest.approx(0.371, abs=0.005)


def test_no_effect_is_found_at_the_level() -> None:
    assert factorial_power([0.7] * 4, 50).interaction == pytest.approx(0.05)
    assert normal_power(0.0, 0.0) == 0.05


def test_exact_pairwise_power_agrees_with_drawn_studies() -> None:
    from labapp.statistics.differences import newcombe_bounds

    rng = np.random.default_rng(0)
    k1, k2 = rng.binomial(50, 0.86, 40_000), rng.binomial(50, 0.52, 40_000)
    low, high = newcombe_bounds(k1, 50, k2, 50)
    assert pair_power(0.86, 0.52, 50, 50, test="newcombe") == pytest.approx(np.mean((low > 0) | (high < 0)), abs=0.01)


def test_boschloo_keeps_its_level_exactly() -> None:
    rejected = rejection_table(24, 24, 0.05, "boschloo")
    for p in np.linspace(0.05, 0.95, 19):
        chances = stats.binom.pmf(np.arange(25), 24, p)
        assert chances @ rejected @ chances <= 0.05


def test_power_rises_along_the_curve() -> None:
    points = curve(lambda n: factorial_power(PAPER, n).main_b, range(10, 210, 20))
    powers = [power for _, power in points]
    assert powers == sorted(powers)


def test_the_needed_n_is_the_smallest_that_reaches_the_power() -> None:
    def power_at(n: int) -> float:
        return factorial_power(PAPER, n).main_b

    n = trials_for_power(power_at)
    assert power_at(n) >= 0.8 > power_at(n - 1)
    assert trials_for_power(lambda n: 0.05) is None


@pytest.mark.parametrize("detectable", [detectable_main_effect, detectable_interaction, detectable_difference])
def test_detectable_effects_shrink_with_n_and_vanish_where_none_fits(detectable) -> None:
    few, many = detectable(0.5, 60), detectable(0.5, 200)
    assert 0 < many < few < 0.5
    assert detectable(0.99, 20) is None


def test_a_detectable_main_effect_has_its_power() -> None:
    for n, method in ((50, "simulated"), (150, "normal")):
        effect = detectable_main_effect(0.6, n)
        rates = [0.6 + effect, 0.6 + effect, 0.6, 0.6]
        assert factorial_power(rates, n, method=method).main_a == pytest.approx(0.8, abs=1e-3)


def test_more_trials_are_none_once_resolved_and_unknown_without_a_difference() -> None:
    assert more_trials_to_resolve(45, 50, 10, 50) == 0
    assert more_trials_to_resolve(43, 50, 37, 50) > 50
    assert more_trials_to_resolve(25, 50, 25, 50) is None
    assert more_trials_to_resolve(0, 0, 25, 50) is None


def test_the_standard_error_is_the_binomials() -> None:
    assert contrast_error([0.3], 40, [1]) == pytest.approx(stats.binom.std(40, 0.3) / 40)


@pytest.mark.parametrize(
    ("rates", "n", "message"),
    [
        ([0.5] * 3, 50, "4 are needed"),
        ([86, 82, 74, 58], 50, "shares, not per cent"),
        ([0.5] * 4, 0, "at least one trial"),
    ],
)
def test_impossible_plans_are_refused(rates: list[float], n: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        factorial_power(rates, n)
    with pytest.raises(ValueError, match="normal, simulated"):
        factorial_power(PAPER, 50, method="guess")
    with pytest.raises(ValueError, match="boschloo or newcombe"):
        pair_power(0.5, 0.6, 5, 5, test="t")
    with pytest.raises(ValueError, match="up to 300 trials"):
        pair_power(0.5, 0.6, 5000, 5000)
