"""The Bayesian second view."""

import numpy as np
import pytest

from labapp.statistics.counts import Count
from labapp.statistics.factorial import factorial
from labapp.statistics.posterior import posterior_effects

TABLE = {"all": [Count(43, 50), Count(41, 50), Count(37, 50), Count(29, 50)]}


def test_it_agrees_with_the_intervals_where_data_are_many() -> None:
    large = {"all": [Count(20 * cell.successes, 20 * cell.trials) for cell in TABLE["all"]]}
    posterior, effects = posterior_effects(large, np.random.default_rng(1)), factorial(large).effects
    for name, effect in effects.items():
        assert posterior[name].mean == pytest.approx(effect.estimate, abs=0.003)
        assert posterior[name].low == pytest.approx(effect.low, abs=0.005)


def test_an_effect_that_the_data_support_is_probably_positive() -> None:
    effects = posterior_effects(TABLE, np.random.default_rng(1))
    assert effects["main_a"].probability_positive > 0.99
    assert 0.9 < effects["main_b"].probability_positive < 0.99


def test_the_same_seed_gives_the_same_numbers() -> None:
    assert posterior_effects(TABLE, np.random.default_rng(3)) == posterior_effects(TABLE, np.random.default_rng(3))


def test_a_cell_without_trials_widens_rather_than_breaks() -> None:
    cells = [*TABLE["all"][:3], Count(0, 0)]
    effects = posterior_effects({"all": cells}, np.random.default_rng(1))
    assert effects["main_a"].high - effects["main_a"].low > 0.4


def test_no_trials_give_nothing_and_a_bad_prior_is_refused() -> None:
    assert posterior_effects({"all": [Count(0, 0)] * 4}, np.random.default_rng(1)) == {}
    with pytest.raises(ValueError, match="above 0"):
        posterior_effects(TABLE, np.random.default_rng(1), prior=(0, 1))
