"""Power and length of a design under its stopping rule: pure, on the page, over REST, and live as the form changes."""

import pytest

from labapp.statistics.power import pair_power
from labapp.studies.design.plan import AnalysisPlan
from labapp.studies.design.stopping import stopping_power
from labapp.studies.design.stopping_wording import family_caution, rule_words, stopped_sentence, stopping_sentence
from labapp.studies.services import study_lock
from tests.labapp.studies.design.conftest import NOW, as_query
from tests.labapp.studies.design.test_power import question

FOUR = AnalysisPlan(stopping="group-sequential", looks=4)
ANYTIME = AnalysisPlan(stopping="anytime")
BOTH = {"primary": ("main_a", "main_b"), "strict_alpha": 0.025}


def rows(plan: AnalysisPlan, n: int = 50, **values) -> dict:
    return {row.key: row for row in stopping_power(question(n, **values), plan)}


def test_a_fixed_plan_has_no_figures_under_a_rule():
    assert stopping_power(question(), AnalysisPlan()) == ()
    assert rule_words(AnalysisPlan()) == "one look at the end"


def test_the_example_with_four_looks_keeps_nearly_its_power_and_saves_trials():
    world = rows(FOUR)["main_a"]
    assert world.power == pytest.approx(0.84, abs=0.02)
    assert world.expected == pytest.approx(41, abs=1)
    assert world.expected_equal > 49
    assert world.median in (25, 38)


def test_with_two_looks_a_pair_keeps_the_power_of_the_fixed_test():
    pair = rows(AnalysisPlan(stopping="group-sequential", looks=2), primary=("A10:D40",))["A10:D40"]
    assert pair.level == 0.05
    assert pair.power == pytest.approx(pair_power(0.86, 0.58, 50, 50), abs=0.03)


def test_without_primary_comparisons_all_pairs_share_the_level_and_effects_stand_beside():
    found = rows(FOUR)
    assert [key for key, row in found.items() if row.is_judged] == [key for key in found if ":" in key]
    assert found["A10:D40"].level == pytest.approx(0.05 / 6)
    assert found["main_a"].level == 0.05
    assert "all 6 pairs share the level" in family_caution(tuple(found.values()), FOUR)


def test_only_primary_comparisons_are_judged_at_the_level_of_the_first():
    found = rows(FOUR, **BOTH)
    assert list(found) == ["main_a", "main_b", "interaction"]
    assert (found["main_a"].is_judged, found["main_a"].level, found["interaction"].is_judged) == (True, 0.025, False)
    assert family_caution(tuple(found.values()), AnalysisPlan(primary=BOTH["primary"])) == ""


def test_betting_asks_for_more_than_looks_do():
    looked, bet = rows(FOUR)["main_a"], rows(ANYTIME)["main_a"]
    assert bet.power < looked.power
    assert bet.needed > looked.needed
    assert bet.median is not None and bet.median > 40
    assert bet.expected < 50


def test_curves_rise_and_hold_the_planned_number():
    for plan in (FOUR, ANYTIME):
        world = rows(plan)["main_a"]
        powers = [power for _, power in world.curve]
        assert dict(world.curve)[50] == world.power
        assert powers == sorted(powers)


def test_the_trials_for_80_percent_give_them():
    needed = rows(FOUR)["main_a"].needed
    assert rows(FOUR, n=needed)["main_a"].power == pytest.approx(0.8, abs=0.02)


def test_without_trials_or_effect_nothing_is_promised():
    nothing = rows(FOUR, n=0)["main_a"]
    assert (nothing.power, nothing.expected) == (None, None)
    equal = rows(ANYTIME, rates=(0.5,) * 4)["main_a"]
    assert equal.power < 0.05 and equal.needed is None
    assert "nothing can be decided" in stopped_sentence(nothing, FOUR, 0)


@pytest.mark.parametrize("n", [1, 3, 7])
def test_fewer_trials_than_looks_are_looked_at_one_by_one(n):
    many = AnalysisPlan(stopping="group-sequential", looks=10)
    assert 0 <= rows(many, n=n)["main_a"].power <= 1


def test_what_was_asked_once_is_not_worked_out_again():
    asked = question(60, rates=(0.9, 0.7, 0.6, 0.5))
    assert stopping_power(asked, FOUR) is stopping_power(question(60, rates=(0.9, 0.7, 0.6, 0.5)), FOUR)


def test_the_sentences_say_rule_power_and_length():
    world = rows(FOUR)["main_a"]
    assert stopped_sentence(world, FOUR, 50) == (
        "World grounding with 4 looks: found in 83% of studies, 41 of 50 trials per arm on average."
    )
    behavior = rows(ANYTIME)["main_b"]
    assert "80% power would need about" in stopped_sentence(behavior, ANYTIME, 50)


def test_a_group_sequential_plan_says_when_it_looks_and_what_it_asks():
    two = AnalysisPlan(stopping="group-sequential", looks=2)
    assert "after 25, |z| above 2.96; after 50, |z| above 1.97" in stopping_sentence(two, 50)
    assert stopping_sentence(AnalysisPlan(), 50) == ""
    assert "after every block" in stopping_sentence(ANYTIME, 50)
    several = AnalysisPlan(stopping="group-sequential", looks=2, primary=("main_a", "main_b"), adjustment="holm")
    assert "boundaries of the others relax" in stopping_sentence(several, 50)


def panel(client, draft, values) -> str:
    address = f"/studies/{draft.slug}/design/power/"
    body = as_query(values).urlencode()
    return client.post(address, body, content_type="application/x-www-form-urlencoded").content.decode()


@pytest.mark.django_db
def test_changing_the_rule_in_the_form_changes_the_power_at_once(draft, researcher, browser_of, sent):
    client = browser_of(researcher)
    fixed = panel(client, draft, sent(draft))
    assert "one look, once all planned trials are run" in fixed
    assert "stopping-table" not in fixed
    looked = panel(client, draft, sent(draft, stopping="group-sequential", looks=4, primary=["main_a"]))
    assert "Under the stopping rule: 4 looks, O&#x27;Brien-Fleming" in looked
    assert "World grounding with 4 looks: found in 83% of studies" in looked
    assert "one look at the end, for comparison" in looked
    bet = panel(client, draft, sent(draft, stopping="anytime"))
    assert "Under the stopping rule: betting, read after every block" in bet
    assert "pairs share the level at every look" in bet
    draft.refresh_from_db()
    assert draft.analysis_plan == {}


@pytest.mark.django_db
def test_the_plan_over_rest_carries_the_figures(draft, researcher, browser_of):
    plan = {"stopping": "group-sequential", "looks": 3, "primary": ["main_a"]}
    client = browser_of(researcher)
    answer = client.put(f"/api/studies/{draft.slug}/plan/", plan, content_type="application/json").json()
    world = answer["under_stopping_rule"][0]
    assert (world["key"], world["is_judged"]) == ("main_a", True)
    assert 0.8 < world["power"] < 0.9


@pytest.mark.django_db
def test_a_locked_design_keeps_showing_the_power_under_its_rule(draft, pi, browser_of):
    draft.analysis_plan = {"stopping": "group-sequential", "looks": 3, "primary": ["main_a"]}
    draft.save()
    study = study_lock(study=draft, actor=pi, now=NOW)
    text = browser_of(pi).get(f"/studies/{study.slug}/design/power/").content.decode()
    assert "Under the stopping rule: 3 looks" in text
    assert "after 17, |z| above" in text
