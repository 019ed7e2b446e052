"""The logistic sensitivity model."""

import numpy as np
import pytest

from labapp.statistics.models import logistic_sensitivity, sensitivity_sentences

CELLS = {(True, True): 0.86, (True, False): 0.82, (False, True): 0.74, (False, False): 0.58}


def rows(n: int = 400, seed: int = 0):
    rng = np.random.default_rng(seed)
    a, b = rng.random((2, n)) < 0.5
    operator = rng.choice(["ann", "ben", "eva"], n)
    rate = np.array([CELLS[bool(x), bool(y)] for x, y in zip(a, b, strict=True)]) - 0.1 * (operator == "ben")
    return list(rng.random(n) < rate), {"world": list(a), "behavior": list(b)}, {"operator": list(operator)}


def test_marginal_effects_are_near_the_effects_that_made_the_rows() -> None:
    result = logistic_sensitivity(*rows(6000))
    assert result.problem == ""
    assert result.effects["world"].estimate == pytest.approx(0.18, abs=0.03)
    assert result.effects["behavior"].estimate == pytest.approx(0.10, abs=0.03)
    assert result.effects["world"].low < 0.18 < result.effects["world"].high


def test_without_terms_the_model_gives_the_cell_means() -> None:
    success, factors, _ = rows(500)
    y = np.array(success)
    a, b = (np.array(column) for column in factors.values())
    means = {(x, z): y[(a == x) & (b == z)].mean() for x in (True, False) for z in (True, False)}
    expected = (means[True, True] + means[True, False] - means[False, True] - means[False, False]) / 2
    assert logistic_sensitivity(success, factors, {}).effects["world"].estimate == pytest.approx(expected, abs=1e-6)


def test_a_cell_that_always_succeeds_is_told_instead_of_fitted() -> None:
    success, factors, terms = rows()
    both = np.array(factors["world"]) & np.array(factors["behavior"])
    result = logistic_sensitivity(list(np.array(success) | both), factors, terms)
    assert result.effects == {}
    assert "always or never" in result.problem


def test_a_cell_without_rows_is_told() -> None:
    success, factors, terms = rows()
    result = logistic_sensitivity(success, factors | {"behavior": factors["world"]}, terms)
    assert "no rows" in result.problem


def test_a_term_with_too_many_levels_is_dropped_and_named() -> None:
    success, factors, _ = rows()
    result = logistic_sensitivity(success, factors, {"seed": [f"s{i}" for i in range(400)], "one": ["x"] * 400})
    assert result.dropped == ("seed", "one")
    assert result.effects


def test_many_blocks_go_in_as_fifths_of_their_order() -> None:
    success, factors, _ = rows()
    result = logistic_sensitivity(success, factors, {"block": [str(i // 4) for i in range(400)]})
    assert (result.terms, result.dropped, result.problem) == (("block in 5 groups",), (), "")
    assert any("block in 5 groups: world +" in sentence for sentence in sensitivity_sentences(result, 0.95))


def test_columns_must_fit_together() -> None:
    success, factors, _ = rows()
    with pytest.raises(ValueError, match="different lengths"):
        logistic_sensitivity(success, factors, {"operator": ["ann"]})
    with pytest.raises(ValueError, match="needs two"):
        logistic_sensitivity(success, {"world": factors["world"]}, {})
