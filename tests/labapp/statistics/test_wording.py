"""Sentences never claim more than the test."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.statistics.contrasts import Contrast
from labapp.statistics.differences import difference
from labapp.statistics.proportions import rate
from labapp.statistics.wording import (
    compared_sentence,
    detectable_effect,
    difference_sentence,
    effect_sentence,
    interaction_sentence,
    points,
    rate_sentence,
)

counts = st.integers(1, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts, counts)
def test_no_sentence_about_a_difference_says_equal_or_proves(first: tuple[int, int], second: tuple[int, int]) -> None:
    result = difference(*first, *second, test="fisher")
    sentence = difference_sentence("A", "B", result).lower()
    assert not any(word in sentence for word in ("equal", "same", "identical", "proves", "significant"))
    assert ("shown" in sentence) == (result.p >= 0.05)


def test_no_difference_shown_names_the_detectable_effect() -> None:
    sentence = difference_sentence("A", "B", difference(43, 50, 41, 50))
    assert sentence.startswith("No difference between A and B shown: +4.0 points (95% interval −10.7 to +18.6")
    assert "find a difference of 21 points with 80% power" in sentence


def test_a_shown_effect_has_its_direction_and_interval() -> None:
    assert effect_sentence("world grounding", Contrast(0.18, 0.06, 0.29, 0.003, 0.95)) == (
        "World grounding raised success by 18.0 points (95% interval +6.0 to +29.0, p = 0.003)."
    )
    assert "lowered success by 18.0" in effect_sentence("it", Contrast(-0.18, -0.29, -0.06, 0.003, 0.95))


def test_interactions_and_missing_cells_are_told_in_words() -> None:
    assert "interact: together" in interaction_sentence("a", "b", Contrast(0.3, 0.1, 0.5, 0.002, 0.95))
    assert "No interaction of a and b shown" in interaction_sentence("a", "b", Contrast(0.1, -0.1, 0.3, 0.4, 0.95))
    for sentence in (effect_sentence("a", None), interaction_sentence("a", "b", None)):
        assert "cannot be estimated: a cell of the design has no trials" in sentence


def test_rates_without_trials_have_no_number() -> None:
    assert rate_sentence(rate(0, 0)) == "No trials, so no rate and no interval."
    assert "26 of 50 succeeded: 52% (95% interval 39% to 65%" in rate_sentence(rate(26, 50))
    assert "cannot be compared" in difference_sentence("A", "B", difference(0, 0, 1, 2))


@pytest.mark.parametrize(("share", "text"), [(0.18, "+18.0"), (-0.05, "−5.0"), (0.0, "0.0"), (-0.0001, "0.0")])
def test_points_are_signed_and_zero_is_plain(share: float, text: str) -> None:
    assert points(share) == text


def test_the_detectable_effect_is_what_the_interval_allows() -> None:
    assert detectable_effect(-0.1, 0.1, 0.95) == pytest.approx(0.1 * (1.95996 + 0.84162) / 1.95996, abs=1e-5)


def test_a_pair_among_several_follows_the_adjusted_p_and_names_what_would_be_found():
    found = difference(43, 50, 33, 50)
    assert found.p < 0.05
    shown = compared_sentence("new", "old", found, found.p, 1)
    assert shown.startswith("New succeeded more often than old: 20.0 points (95% interval ")
    missed = compared_sentence("new", "old", found, 10 * found.p, 10)
    assert missed.startswith("No difference between new and old shown: +20.0 points")
    alone, shared = (detectable_effect(found.low, found.high, 0.95, comparisons=n) for n in (1, 10))
    assert shared > alone and f"find a difference of {100 * shared:.0f} points with 80% power" in missed
    assert "cannot be compared" in compared_sentence("new", "old", difference(0, 0, 1, 2), None, 1)
