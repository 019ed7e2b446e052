"""Paired comparisons."""

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import minimize_scalar

from labapp.statistics.paired import discordant_pairs, mcnemar_p, paired, tango_bounds

pairs = st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(0, 60)).filter(lambda t: sum(t) > 0)


@pytest.mark.parametrize(("category", "n10", "n01", "p"), [("semantic", 66, 23, 5.7e-6), ("control", 45, 24, 0.0154)])
def test_a_real_paired_case_gives_its_known_values(
    shared_data: Path, category: str, n10: int, n01: int, p: float
) -> None:
    with (shared_data / "outcomes_pi0_spoon" / f"{category}_n10.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    by_key = [{(r["run"], r["episode_id"]): r[f"{m}_success"] == "1" for r in rows} for m in ("cgvd", "baseline")]
    assert discordant_pairs(*by_key) == (n10, n01, 200)
    result = paired(n10, n01, 200)
    assert result.p == pytest.approx(p, rel=0.01)
    assert result.low > 0


def test_without_discordant_pairs_p_is_one() -> None:
    result = paired(0, 0, 50)
    assert (result.p, result.estimate, result.share) == (1.0, 0.0, None)
    assert result.low == pytest.approx(-result.high)


@given(st.integers(0, 60), st.integers(0, 60))
def test_the_p_value_is_the_binomial_tests(n10: int, n01: int) -> None:
    expected = stats.binomtest(n10, n10 + n01).pvalue if n10 + n01 else 1.0
    assert float(mcnemar_p(n10, n01)) == pytest.approx(expected)


@pytest.mark.parametrize(("b", "c", "n"), [(12, 2, 50), (66, 23, 200), (1, 0, 10), (4, 9, 30)])
def test_at_tangos_bounds_the_score_of_the_restricted_likelihood_is_the_quantile(b: int, c: int, n: int) -> None:
    """The restricted rates are found by a general optimiser here, in closed form there."""

    def score(d: float) -> float:
        def loss(q: float) -> float:
            return -(b * np.log(q + d) + c * np.log(q) + (n - b - c) * np.log(1 - 2 * q - d))

        inside = max(0.0, -d) + 1e-12, (1 - d) / 2 - 1e-12
        q = minimize_scalar(loss, bounds=inside, method="bounded", options={"xatol": 1e-12}).x
        return (b - c - n * d) / np.sqrt(n * (2 * q + d - d**2))

    low, high = (float(bound) for bound in tango_bounds(b, c, n))
    assert score(low) == pytest.approx(1.959964, abs=1e-3)
    assert score(high) == pytest.approx(-1.959964, abs=1e-3)


@given(pairs)
def test_swapping_the_arms_mirrors_the_interval(counts: tuple[int, int, int]) -> None:
    b, c, rest = counts
    low, high = tango_bounds(b, c, b + c + rest)
    other_low, other_high = tango_bounds(c, b, b + c + rest)
    assert (float(low), float(high)) == pytest.approx((-float(other_high), -float(other_low)), abs=1e-9)


@given(pairs)
def test_the_interval_holds_the_estimate_within_minus_one_and_one(counts: tuple[int, int, int]) -> None:
    b, c, rest = counts
    result = paired(b, c, b + c + rest)
    assert -1 <= result.low <= result.estimate + 1e-12
    assert result.estimate - 1e-12 <= result.high <= 1


def test_keys_that_only_one_arm_has_are_left_out() -> None:
    assert discordant_pairs({1: True, 2: True, 3: False}, {1: False, 2: True, 4: True}) == (1, 0, 2)


@pytest.mark.parametrize(("arguments", "message"), [((5, 5, 9), "9 pairs, of which 10"), ((-1, 5), "whole numbers")])
def test_impossible_counts_are_refused(arguments: tuple, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        paired(*arguments)
