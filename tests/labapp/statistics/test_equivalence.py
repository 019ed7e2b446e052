"""Equivalence and non-inferiority against a declared margin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from labapp.statistics.equivalence import equivalence, margin_score, non_inferiority

counts = st.integers(5, 60).flatmap(lambda n: st.tuples(st.integers(1, n - 1), st.just(n)))


@given(counts, counts, st.sampled_from([-0.2, -0.1, 0.1, 0.2]))
def test_the_score_uses_the_restricted_likelihood(
    first: tuple[int, int], second: tuple[int, int], margin: float
) -> None:
    (k1, n1), (k2, n2) = first, second

    def loss(r: float) -> float:
        return -(
            k1 * np.log(r) + (n1 - k1) * np.log(1 - r) + k2 * np.log(r - margin) + (n2 - k2) * np.log(1 - r + margin)
        )

    bounds = max(margin, 0) + 1e-9, min(1 + margin, 1) - 1e-9
    r1 = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-12}).x
    variance = r1 * (1 - r1) / n1 + (r1 - margin) * (1 - r1 + margin) / n2
    expected = (k1 / n1 - k2 / n2 - margin) / np.sqrt(variance)
    assert float(margin_score(k1, n1, k2, n2, margin)) == pytest.approx(expected, abs=2e-3)


def test_many_like_trials_are_equivalent_few_are_undecided() -> None:
    assert equivalence(900, 1000, 896, 1000, 0.05).verdict == "equivalent"
    assert equivalence(17, 24, 17, 24, 0.1).verdict == "undecided"


def test_an_equivalent_interval_lies_within_the_margin() -> None:
    result = equivalence(900, 1000, 896, 1000, 0.05)
    assert -0.05 < result.low < result.high < 0.05


def test_a_difference_beyond_the_margin_is_said() -> None:
    assert equivalence(43, 50, 26, 50, 0.1).verdict == "better by more than the margin"
    assert non_inferiority(26, 50, 43, 50, 0.1).verdict == "worse by more than the margin"


def test_a_better_arm_is_not_inferior() -> None:
    assert non_inferiority(43, 50, 26, 50, 0.1).verdict == "non-inferior"


@pytest.mark.parametrize("k", [0, 50])
def test_all_alike_is_judged_without_breaking(k: int) -> None:
    assert equivalence(k, 50, k, 50, 0.1).verdict == "equivalent"


def test_bad_margins_and_empty_arms_are_refused() -> None:
    with pytest.raises(ValueError, match="ten points"):
        equivalence(1, 5, 1, 5, 10)
    with pytest.raises(ValueError, match="second arm: no trials"):
        non_inferiority(1, 5, 0, 0, 0.1)
