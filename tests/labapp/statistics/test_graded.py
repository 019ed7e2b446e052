"""Furthest stages."""

import numpy as np
import pytest
from scipy import stats

from labapp.statistics.graded import compare_progress, reached, stage_ranks

ORDER = ("approach", "contact", "lift", "carry", "release", "placed")


def test_superiority_counts_ties_half() -> None:
    first, second = np.array([5, 5, 2, 0]), np.array([5, 1, 1, 0])
    wins = sum((a > b) + 0.5 * (a == b) for a in first for b in second)
    assert compare_progress(first, second).superiority == pytest.approx(wins / 16)


def test_the_p_value_is_brunner_and_munzels_and_agrees_with_the_interval() -> None:
    rng = np.random.default_rng(8)
    first, second = rng.integers(1, 6, 50), rng.integers(0, 6, 50)
    result = compare_progress(first, second)
    assert result.p == pytest.approx(stats.brunnermunzel(first, second).pvalue, abs=0.01)
    assert result.low < result.superiority < result.high < 1
    assert (result.p < 0.05) == (result.low > 0.5)


def test_swapping_the_arms_mirrors_the_result() -> None:
    rng = np.random.default_rng(6)
    first, second = rng.integers(0, 6, 40), rng.integers(0, 6, 30)
    here, there = compare_progress(first, second), compare_progress(second, first)
    assert (here.low, here.high) == pytest.approx((1 - there.high, 1 - there.low))
    assert here.p == pytest.approx(there.p, abs=0.02)


def test_complete_separation_keeps_an_honest_interval() -> None:
    result = compare_progress(np.full(10, 5), np.full(12, 1))
    assert result.superiority == 1
    assert 0.6 < result.low < 1
    assert result.high == 1
    assert 0 < result.p < 0.01


def test_arms_that_all_ended_alike_show_nothing() -> None:
    result = compare_progress(np.full(10, 5), np.full(10, 5))
    assert (result.superiority, result.p) == (0.5, 1.0)
    assert result.low < 0.5 < result.high


def test_a_single_trial_is_no_comparison() -> None:
    assert compare_progress(np.array([5]), np.array([1, 2, 3])) is None


def test_reached_shares_fall_along_the_stages() -> None:
    shares = [r.rate for r in reached(["placed", "lift", "lift", "approach"], ORDER).values()]
    assert shares == [1.0, 0.75, 0.75, 0.25, 0.25, 0.25]


def test_an_unknown_stage_is_named() -> None:
    with pytest.raises(ValueError, match="unknown stage flying: one of approach"):
        stage_ranks(["lift", "flying"], ORDER)
