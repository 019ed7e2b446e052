from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.studies.schedule import ConditionPlan, plan_slots

ARMS = ["A17", "K42", "Q80", "T11", "Z95"]
PAPER = [
    ConditionPlan("nominal", 24, (0.08, 0.12), ("box", "can", "bottle", "ball")),
    ConditionPlan("red-light", 9, (0.08, 0.12), ("box", "can", "bottle", "ball")),
    ConditionPlan("faster-belt", 8, (0.16, 0.20), ("box", "can", "bottle", "ball")),
    ConditionPlan("novel-objects", 8, (0.08, 0.12), ("carton", "jar")),
    ConditionPlan("all-shifts", 1, (0.16, 0.20), ("carton", "jar")),
]


def test_every_arm_gets_fifty_trials_with_the_planned_conditions():
    slots = plan_slots(ARMS, PAPER, seed=5)
    assert len(slots) == 250
    assert [s.position for s in slots] == list(range(1, 251))
    for arm in ARMS:
        counts = Counter(s.condition for s in slots if s.arm == arm)
        assert counts == {c.slug: c.trials for c in PAPER}


def test_a_block_holds_each_arm_once_under_one_identical_setting():
    slots = plan_slots(ARMS, PAPER, seed=5)
    for block in range(1, 51):
        members = [s for s in slots if s.block == block]
        assert sorted(s.arm for s in members) == ARMS
        assert len({(s.condition, s.object, s.belt_speed, s.bin, s.seed) for s in members}) == 1


def test_the_seed_decides_the_order():
    assert plan_slots(ARMS, PAPER, seed=5) == plan_slots(ARMS, PAPER, seed=5)
    assert plan_slots(ARMS, PAPER, seed=5) != plan_slots(ARMS, PAPER, seed=6)


@given(seed=st.integers(0, 10_000))
def test_conditions_are_balanced_over_time_whatever_the_seed(seed):
    slots = plan_slots(["A"], PAPER, seed)
    seen = 0
    for number, slot in enumerate(slots, start=1):
        seen += slot.condition == "nominal"
        assert abs(seen - 24 / 50 * number) <= 5


def test_objects_and_bins_are_used_evenly():
    nominal = [s for s in plan_slots(["A"], PAPER, seed=1) if s.condition == "nominal"]
    assert set(Counter((s.object, s.bin) for s in nominal).values()) == {3}


def test_belt_speed_stays_in_the_conditions_range():
    for slot in plan_slots(ARMS, PAPER, seed=2):
        low, high = next(c.belt_speed for c in PAPER if c.slug == slot.condition)
        assert low <= slot.belt_speed <= high


def test_the_order_of_arms_changes_from_block_to_block():
    slots = plan_slots(ARMS, PAPER, seed=3)
    firsts = Counter(slot.arm for slot in slots[:: len(ARMS)])
    assert set(firsts) == set(ARMS)
    assert max(firsts.values()) < 25


@given(seed=st.integers(0, 10_000), trials=st.integers(1, 20), objects=st.integers(1, 5))
def test_bins_are_balanced_within_one_trial_and_objects_within_one_round(seed, trials, objects):
    plan = ConditionPlan("nominal", trials, (0.1, 0.1), tuple("abcde"[:objects]))
    slots = plan_slots(["A"], [plan], seed)
    sides = Counter(slot.bin for slot in slots)
    assert abs(sides["left"] - sides["right"]) <= 1
    used = Counter(slot.object for slot in slots)
    assert max(used.values()) - min(used.get(name, 0) for name in plan.objects) <= 1
    assert max(Counter((s.object, s.bin) for s in slots).values()) <= -(-trials // (2 * objects))


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6])
def test_arms_are_balanced_over_places_and_over_what_came_before(count):
    arms = ARMS[:count] if count <= 5 else [*ARMS, "B12"]
    whole = 2 * count  # blocks after which a Williams square of an odd order is complete, too
    slots = plan_slots(arms, [ConditionPlan("nominal", 2 * whole, (0.1, 0.1), ("box",))], seed=9)
    places = Counter((slot.arm, (slot.position - 1) % count) for slot in slots)
    assert set(places.values()) == {2 * whole // count}
    before = Counter((a.arm, b.arm) for a, b in pairwise(slots) if a.block == b.block)
    assert len(before) == count * (count - 1)
    assert len(set(before.values())) <= 1


def test_over_many_seeds_no_condition_prefers_a_time_and_no_arm_a_place_or_a_condition():
    """400 studies: the mean correlation with time is within 4 standard errors of 0, shares are what chance gives."""
    studies = [plan_slots(ARMS, PAPER, seed) for seed in range(400)]
    for plan in PAPER:
        found = [np.corrcoef([s.condition == plan.slug for s in slots[::5]], np.arange(50))[0, 1] for slots in studies]
        assert abs(np.mean(found)) < 4 * np.std(found) / len(found) ** 0.5
    firsts = Counter((slots[0].arm, slots[0].condition) for slots in studies)
    by_arm = Counter(slots[0].arm for slots in studies)
    assert set(by_arm) == set(ARMS) and max(by_arm.values()) < 120 and min(by_arm.values()) > 45
    assert len(firsts) > 15


def test_over_many_seeds_what_ends_a_block_says_nothing_of_what_begins_the_next():
    pairs = Counter(
        (a.arm, b.arm) for seed in range(200) for a, b in pairwise(plan_slots(ARMS, PAPER, seed)) if a.block != b.block
    )
    expected = 200 * 49 / 25
    assert len(pairs) == 25
    assert sum((count - expected) ** 2 / expected for count in pairs.values()) < 60  # chi-squared, 24 degrees, p ~ 1e-4


@pytest.mark.parametrize(
    ("arms", "conditions", "message"),
    [
        ([], PAPER, "at least one arm"),
        (["A", "A"], PAPER, "must differ"),
        (["A"], [ConditionPlan("nominal", 0, (0.1, 0.1), ("box",))], "at least one trial"),
        (["A"], [ConditionPlan("novel", 2, (0.1, 0.1), ())], "no object fits the condition novel"),
    ],
)
def test_an_impossible_design_says_what_is_missing(arms, conditions, message):
    with pytest.raises(ValueError, match=message):
        plan_slots(arms, conditions, seed=0)
