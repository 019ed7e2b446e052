"""Looking before the end."""

import numpy as np
import pytest

from labapp.statistics.sequential import (
    REACH,
    betting_sequence,
    boundaries,
    log_capital,
    pooled_z,
    spent,
)


def test_boundaries_give_the_published_values() -> None:
    assert boundaries([0.25, 0.5, 0.75, 1]) == pytest.approx([4.3326, 2.9631, 2.3590, 2.0141], abs=2e-4)
    pocock = boundaries([0.2, 0.4, 0.6, 0.8, 1], shape="pocock")
    assert pocock == pytest.approx([2.4380, 2.4268, 2.4101, 2.3966, 2.3859], abs=2e-4)


def test_five_looks_give_the_published_boundaries() -> None:
    """Lan and DeMets' spending function of O'Brien and Fleming's kind, two-sided 5 %."""
    assert boundaries([0.2, 0.4, 0.6, 0.8, 1]) == pytest.approx([4.877, 3.357, 2.680, 2.290, 2.031], abs=5e-4)


def test_a_boundary_that_may_spend_next_to_nothing_stays_finite() -> None:
    first, *_, last = boundaries([0.02, 0.5, 1], alpha=0.001)
    assert first == REACH
    assert last < 3.4


def test_one_look_is_the_fixed_test() -> None:
    assert boundaries([1.0]) == pytest.approx([1.95996], abs=1e-4)


def test_the_whole_level_is_spent_at_the_end() -> None:
    for shape in ("obrien-fleming", "pocock"):
        assert float(spent(0.05, 1.0, shape)) == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("fractions", "message"), [([0.5, 0.5], "rise from look to look"), ([0.5, 1.2], "above 0 and up to 1")]
)
def test_bad_looks_are_refused(fractions: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        boundaries(fractions)


def test_an_unknown_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="obrien-fleming, pocock"):
        spent(0.05, 0.5, "flat")


def test_the_pooled_score_is_zero_where_all_ended_alike() -> None:
    assert float(pooled_z(0, 10, 0, 10)) == 0
    assert float(pooled_z(8, 10, 2, 10)) > 2.5


def test_a_fair_bet_keeps_its_mean_capital() -> None:
    rng = np.random.default_rng(2)
    capital = np.exp(log_capital(rng.random((4000, 40)) < 0.7, 0.7, 0.05))
    assert capital[:, -1].mean() < 1.1  # max of two halves of martingales from 1


def test_bounds_never_widen_and_hold_the_mean() -> None:
    rng = np.random.default_rng(4)
    low, high = betting_sequence(rng.random(300) < 0.8)
    assert np.all(np.diff(low) >= 0)
    assert np.all(np.diff(high) <= 0)
    assert low[-1] < 0.8 < high[-1]
    assert high[-1] - low[-1] < 0.25
