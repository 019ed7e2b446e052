"""How many more trials would show what is not shown yet."""

import pytest

from labapp.statistics.contrasts import contrast
from labapp.statistics.differences import difference
from labapp.statistics.factorial import MAIN_B
from labapp.statistics.power import contrast_error, more_trials_to_resolve, normal_power
from labapp.statistics.resolving import MOST, more_for_interval, more_sentence, more_words


def test_it_agrees_with_the_formula_from_counts() -> None:
    found = difference(30, 50, 25, 50)
    more = more_for_interval(found.estimate, found.low, found.high, 50, 0.95)
    assert more == pytest.approx(more_trials_to_resolve(30, 50, 25, 50), rel=0.2)


def test_that_many_trials_would_give_80_percent_power() -> None:
    effect = contrast(MAIN_B, [43, 41, 37, 29], [50] * 4)
    n = 50 + more_for_interval(effect.estimate, effect.low, effect.high, 50, 0.95)
    error = contrast_error([0.86, 0.82, 0.74, 0.58], n, MAIN_B)
    assert normal_power(effect.estimate, error) == pytest.approx(0.8, abs=0.04)


def test_a_shared_level_asks_for_more() -> None:
    alone, shared = (more_for_interval(10.0, -10.0, 30.0, 50, 0.95, comparisons) for comparisons in (1, 10))
    assert shared > 1.4 * alone


def test_the_unit_does_not_matter() -> None:
    assert more_for_interval(10.0, -10.0, 30.0, 50, 0.95) == more_for_interval(0.1, -0.1, 0.3, 50, 0.95)


def test_no_number_resolves_no_difference_and_a_tiny_one_takes_very_many() -> None:
    assert more_for_interval(0.0, -10.0, 10.0, 50, 0.95) is None
    assert more_for_interval(1e-9, -10.0, 10.0, 50, 0.95) >= MOST
    assert (more_words(None), more_words(120), more_words(MOST)) == ("—", "about 120", "more than 100,000")


def test_the_sentence_says_its_assumption() -> None:
    assert more_sentence(120) == (
        "Were the effect seen so far the true one, about 120 more trials per arm would show it with 80% power "
        "(normal formula)."
    )
    assert "more than 100,000 trials" in more_sentence(MOST)
    assert "no number of trials" in more_sentence(None)
