"""Power of a design, from assumed rates: pure."""

import pytest

from labapp.studies.design.plan import Margin
from labapp.studies.design.power import Assumed, Question, curve_ns, design_power
from labapp.studies.design.wording import cautions, claim_sentence, power_sentence

CODES = ("A10", "B20", "C30", "D40")
RATES = (0.86, 0.82, 0.74, 0.58)


def question(n: int = 50, rates=RATES, **values) -> Question:
    arms = tuple(Assumed(code, f"arm {code}", rate) for code, rate in zip(CODES, rates, strict=True))
    defaults = {
        "arms": arms,
        "cells": tuple((code,) for code in CODES),
        "labels": ("world grounding", "behavior grounding", "interaction"),
        "groups": (("all", n),),
    }
    return Question(**defaults | values)


def test_the_example_shows_086_for_world_and_039_for_behavior_at_50_a_cell():
    world, behavior, interaction = design_power(question()).effects
    assert world.formula == pytest.approx(0.86, abs=0.005)
    assert behavior.formula == pytest.approx(0.39, abs=0.005)
    assert world.effect == pytest.approx(0.18)
    assert (interaction.effect, interaction.powers[0]) == (pytest.approx(-0.12), pytest.approx(0.17, abs=0.01))


def test_the_figure_shown_is_drawn_and_a_little_below_the_formula_at_50_a_cell():
    for effect, drawn in zip(design_power(question()).effects, (0.842, 0.371, 0.163), strict=True):
        assert effect.powers[0] == pytest.approx(drawn, abs=0.01)
        assert 0 < effect.formula - effect.powers[0] < 0.025


def test_the_formula_promises_too_much_with_ten_trials_and_is_not_the_figure_shown():
    world = design_power(question(n=10)).effects[0]
    assert world.formula - world.powers[0] > 0.03


def test_every_pair_of_arms_has_its_exact_power():
    pairs = {pair.key: pair for pair in design_power(question()).pairs}
    assert len(pairs) == 6
    assert pairs["A10:D40"].powers[0] == pytest.approx(0.88, abs=0.01)
    assert pairs["A10:B20"].powers[0] < 0.1


def test_power_grows_along_the_curve_and_passes_through_the_planned_number():
    world = design_power(question()).effects[0]
    ns, powers = zip(*world.curve, strict=True)
    assert 50 in ns
    assert list(powers) == pytest.approx(sorted(powers), abs=0.02)  # drawn, so not quite smooth
    assert world.needed is not None
    assert dict(design_power(question(n=world.needed)).effects[0].curve)[world.needed] >= 0.8


def test_nominal_and_shifted_trials_apart_have_less_power_than_together():
    groups = (("all", 50), ("nominal", 24), ("shifted", 26))
    together, nominal, shifted = design_power(question(groups=groups)).effects[0].powers
    assert nominal < shifted < together


def test_several_arms_in_a_cell_count_together():
    arms = (*question().arms, Assumed("E50", "second", 0.86))
    doubled = question(arms=arms, cells=(("A10", "E50"), ("B20",), ("C30",), ("D40",)))
    assert design_power(doubled).effects[0].powers[0] > design_power(question()).effects[0].powers[0]


def test_an_empty_cell_leaves_only_pairs():
    assert design_power(question(cells=(("A10",), ("B20",), ("C30",), ()))).effects == ()


def test_without_trials_there_is_no_power_and_the_sentence_says_so():
    report = design_power(question(n=0))
    assert all(row.powers == (None,) for row in (*report.effects, *report.pairs))
    assert "nothing can be shown" in power_sentence(report.effects[0], 0)


def test_equal_rates_have_nothing_to_find():
    report = design_power(question(rates=(0.5, 0.5, 0.5, 0.5)))
    assert report.effects[0].needed is None
    assert "nothing to find" in power_sentence(report.effects[0], 50)


def test_a_margin_has_its_own_power():
    margins = (Margin("non_inferiority", "A10", "B20", 0.15), Margin("equivalence", "A10", "B20", 0.15))
    not_worse, equal = design_power(question(n=100, margins=margins)).claims
    assert not_worse.power > equal.power_if_equal
    assert "is not worse than arm B20, margin 15 points" in claim_sentence(not_worse)


def test_a_primary_comparison_that_would_rather_be_missed_is_a_caution():
    assert cautions(design_power(question(primary=("main_a",)))) == []
    (caution,) = cautions(design_power(question(primary=("main_a", "main_b"))))
    assert caution.startswith("Behavior grounding is primary")


def test_holm_asks_more_of_the_first_of_several():
    strict = design_power(question(primary=("main_a", "main_b"), strict_alpha=0.025)).effects[0]
    assert strict.strict < strict.powers[0]


def test_curves_end_beyond_the_planned_number():
    assert max(curve_ns(50)) >= 100
    assert curve_ns(0) == [n for n in curve_ns(0) if n > 0]


def test_a_large_design_is_planned_by_the_normal_formula_without_a_jump():
    pairs = [{p.key: p for p in design_power(question(n=n)).pairs}["A10:C30"] for n in (200, 201, 1000)]
    assert pairs[1].powers[0] == pytest.approx(pairs[0].powers[0], abs=0.02)
    assert pairs[2].powers[0] > 0.99
    assert pairs[2].detectable < pairs[1].detectable < 0.2
