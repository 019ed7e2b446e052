"""Warnings that make right numbers readable."""

import numpy as np
import pytest
from scipy import stats

from labapp.statistics.cautions import (
    TrendSums,
    drift,
    duplicate_blocks,
    groups_differ,
    invalid_trials,
    repeated_trials,
    simpson,
    stratified_association,
    stratified_trend,
)
from labapp.statistics.counts import Count

KIDNEY_STONES = {"small": (Count(81, 87), Count(234, 270)), "large": (Count(192, 263), Count(55, 80))}


def test_the_classic_reversal_is_seen() -> None:
    caution = simpson("open surgery", "keyhole", KIDNEY_STONES)
    assert caution.message.startswith("keyhole is ahead of open surgery over all trials, but not within small, large")


def test_agreeing_strata_or_a_single_one_raise_nothing() -> None:
    agreeing = {"a": (Count(9, 10), Count(5, 10)), "b": (Count(8, 10), Count(4, 10))}
    assert simpson("x", "y", agreeing) is None
    assert simpson("x", "y", {"small": KIDNEY_STONES["small"]}) is None
    assert simpson("x", "y", {**KIDNEY_STONES, "large": (Count(0, 0), Count(55, 80))}) is None


def test_a_fall_over_the_study_is_drift_and_noise_is_not() -> None:
    rng = np.random.default_rng(0)
    time = np.arange(200)
    assert "fell" in drift([sums(rng.random(200) < np.linspace(0.9, 0.3, 200), time)]).message
    assert drift([sums(rng.random(200) < 0.6, time)]) is None


def test_arms_run_one_after_the_other_are_no_drift() -> None:
    """A better arm run first makes pooled success fall; within arms nothing changes."""
    rng = np.random.default_rng(1)
    success, time = rng.random(200) < np.repeat([0.95, 0.3], 100), np.arange(200)
    assert drift([sums(success, time)]) is not None
    assert drift([sums(success[:100], time[:100]), sums(success[100:], time[100:])]) is None


def sums(success: np.ndarray, time: np.ndarray) -> TrendSums:
    covariance = np.cov(success, time, bias=True)[0, 1]
    return TrendSums(len(success), success.mean(), covariance, time.var())


def test_nothing_that_varies_is_no_trend() -> None:
    assert stratified_trend([True] * 5, range(5), ["a"] * 5) == (0.0, 1.0)


def test_one_stratum_of_groups_is_pearsons_chi_square() -> None:
    table = np.array([[30, 20], [18, 32], [25, 25]])
    success = np.concatenate([[True] * k + [False] * m for k, m in table])
    group = np.repeat(["a", "b", "c"], 50).tolist()
    expected = stats.chi2.sf(stats.chi2_contingency(table, correction=False)[0] * 149 / 150, 2)
    assert stratified_association(success, group, ["all"] * 150) == pytest.approx(expected)


def test_operators_who_score_differently_are_seen_and_like_ones_are_not() -> None:
    unlike = [{"ann": Count(45, 50), "ben": Count(25, 50)}, {"ann": Count(40, 50), "ben": Count(30, 50)}]
    alike = [{"ann": Count(31, 50), "ben": Count(29, 50)}, {"ann": Count(40, 50), "ben": Count(41, 50)}]
    assert groups_differ("operators", unlike).kind == "operators"
    assert groups_differ("operators", alike) is None
    assert groups_differ("operators", [{"ann": Count(3, 50)}]) is None
    assert groups_differ("operators", []) is None


def test_uneven_invalid_trials_name_the_worst_arm() -> None:
    caution = invalid_trials({"a": Count(1, 60), "b": Count(15, 60), "untried": Count(0, 0)})
    assert "most in b: 25%" in caution.message
    assert invalid_trials({"a": Count(3, 60), "b": Count(4, 60)}) is None
    assert invalid_trials({"a": Count(0, 60), "b": Count(0, 60)}) is None


def test_two_trials_of_an_arm_in_a_block_are_named() -> None:
    assert "b in block 2" in repeated_trials([(1, "a"), (1, "b"), (2, "b"), (2, "b")]).message
    assert repeated_trials([(1, "a"), (1, "b"), (2, "a")]) is None


def test_a_block_entered_twice_is_found_by_its_times() -> None:
    trials = [("a", True, 4.217), ("b", True, 5.011), ("c", False, 12.0)]
    other = [("a", True, 4.218), ("b", True, 5.011), ("c", False, 12.0)]
    assert "1 and 3" in duplicate_blocks({1: trials, 2: other, 3: list(reversed(trials))}).message
    assert duplicate_blocks({1: trials, 2: other}) is None
    for weak in ([("a", True, None), ("b", True, 5.0)], [("a", False, 12.0), ("b", False, 12.0)]):
        assert duplicate_blocks({1: weak, 2: weak}) is None
