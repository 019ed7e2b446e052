"""Several comparisons at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from labapp.statistics.counts import Count
from labapp.statistics.multiplicity import compact_letters, compare_all, holm, letters_by_rate

ARMS = "ABCDE"
every_pair = [(a, b) for i, a in enumerate(ARMS) for b in ARMS[i + 1 :]]


@pytest.mark.parametrize("comparisons", range(1, 13))
def test_holm_agrees_with_statsmodels(comparisons: int) -> None:
    p_values = list(np.random.default_rng(comparisons).random(comparisons) ** 3)
    assert holm(p_values) == pytest.approx(list(multipletests(p_values, method="holm")[1]))


@given(st.sets(st.sampled_from(every_pair)))
def test_arms_share_a_letter_exactly_where_no_difference_was_shown(different: set[tuple[str, str]]) -> None:
    letters = compact_letters(list(ARMS), different)
    for a, b in every_pair:
        assert bool(set(letters[a]) & set(letters[b])) == ((a, b) not in different)


def test_letters_start_at_the_best_arm() -> None:
    arms = {"bad": Count(5, 50), "good": Count(45, 50), "fair": Count(40, 50), "untried": Count(0, 0)}
    assert letters_by_rate(arms, compare_all(arms)) == {"good": "a", "fair": "a", "bad": "b"}


def test_an_arm_without_trials_costs_the_others_nothing() -> None:
    with_empty = compare_all({"a": Count(45, 50), "b": Count(20, 50), "c": Count(0, 0)})
    without = compare_all({"a": Count(45, 50), "b": Count(20, 50)})
    assert with_empty[0] == without[0]
    assert [c.adjusted_p for c in with_empty[1:]] == [None, None]
