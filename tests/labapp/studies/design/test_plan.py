"""The analysis plan: read, checked, written."""

import pytest

from labapp.studies.design.plan import AnalysisPlan, Margin, PlanError, pair_keys
from labapp.studies.design.wording import pairs_note, plan_facts


def test_a_plan_survives_its_own_json():
    plan = AnalysisPlan(
        primary=("main_a", "A10:B20"),
        adjustment="holm",
        stopping="group-sequential",
        looks=3,
        margins=(Margin("equivalence", "A10", "B20", 0.1),),
        assumed_rates={"A10": 0.5},
    )
    assert AnalysisPlan.from_json(plan.to_json()) == plan


def test_no_plan_is_the_default_one():
    assert AnalysisPlan.from_json({}) == AnalysisPlan()


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"alpha": 0}, "alpha"),
        ({"adjustment": "bonferroni"}, "adjustment"),
        ({"test": "guess"}, "test"),
        ({"stopping": "when-it-looks-good"}, "stopping"),
        ({"stopping": "group-sequential", "looks": 1}, "looks"),
        ({"assumed_rates": {"A10": 86}}, "assumed_rates"),
        ({"margins": [{"kind": "equivalence", "first": "A10", "second": "A10", "margin": 0.1}]}, "margins"),
        ({"margins": [{"kind": "equivalence", "first": "A10", "second": "B20", "margin": 10}]}, "margins"),
        ({"prior": 3}, "prior"),
        ({"primary": [1]}, "primary"),
        ({"primary": "main_a"}, "primary"),
        ({"primary": ["A10"]}, "primary"),
        ({"primary": ["A10:A10"]}, "primary"),
        ({"primary": ["main_a", "main_a"]}, "primary"),
        ({"looks": 2.5}, "looks"),
        ({"looks": None}, "looks"),
        ({"looks": -5}, "looks"),
        ({"alpha": 10**400}, "alpha"),
        ({"test": ["boschloo"]}, "test"),
        ({"assumed_rates": {"A10": True}}, "assumed_rates"),
        ({"margins": [{"kind": "equivalence", "first": ["A10"], "second": "B20", "margin": 0.1}]}, "margins"),
    ],
)
def test_an_impossible_plan_names_its_field(values, field):
    with pytest.raises(PlanError) as error:
        AnalysisPlan.from_json(values)
    assert error.value.field == field


def test_what_names_an_arm_that_is_gone_goes_with_it():
    plan = AnalysisPlan(
        primary=("main_a", "A10:B20", "A10:C30"),
        margins=(Margin("equivalence", "A10", "B20", 0.1),),
        assumed_rates={"A10": 0.5, "B20": 0.4},
    ).kept_to({"A10", "C30"})
    assert (plan.primary, plan.margins, plan.assumed_rates) == (("main_a", "A10:C30"), (), {"A10": 0.5})


def test_holm_tests_the_first_of_three_at_a_third():
    assert AnalysisPlan(primary=("main_a", "main_b", "interaction"), adjustment="holm").strictest_alpha == 0.05 / 3
    assert AnalysisPlan(primary=("main_a", "main_b")).strictest_alpha == 0.05


def test_pairs_keep_the_order_of_the_arms():
    assert pair_keys(["C", "A", "B"]) == ["C:A", "C:B", "A:B"]


def test_a_plan_without_margins_may_not_claim_equality():
    names = {"A10": "new", "B20": "old"}
    facts = dict(plan_facts(AnalysisPlan(), {}, names))
    assert "may not claim that arms are equal" in facts["Margins"]
    margin = AnalysisPlan(margins=(Margin("non_inferiority", "A10", "B20", 0.1),))
    assert dict(plan_facts(margin, {}, names))["Margins"] == "new not worse than old within 10 points"


@pytest.mark.parametrize(
    ("values", "test", "note"),
    [
        ({}, "Boschloo", ""),
        ({"test": "fisher"}, "Fisher", "finds less"),
        ({"test": "mcnemar"}, "McNemar", "pairs trials by block"),
        ({"test": "mcnemar", "stopping": "group-sequential", "looks": 3}, "pooled score", ""),
        ({"stopping": "anytime"}, "betting", ""),
    ],
)
def test_the_plan_names_the_test_that_will_be_used_and_how_its_power_differs(values, test, note):
    plan = AnalysisPlan(**values)
    assert test in dict(plan_facts(plan, {}, {}))["Test of two arms"]
    assert (note in pairs_note(plan)) if note else pairs_note(plan) == ""
