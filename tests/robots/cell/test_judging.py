"""Stages, success and failure modes, judged from made-up ticks."""

import dataclasses

import numpy as np
import pytest

from robots.cell.bench import BENCH_CELL
from robots.cell.judging import BinBox, SuccessPredicate, TrialJudge
from robots.cell.sample import SceneSample
from robots.cell.world import LayoutParameters, nominal_world

NOMINAL = nominal_world(BENCH_CELL)
BELT, AIR = (0.765, -0.34, 0.13), (0.765, -0.34, 0.25)
HALFWAY, OVER_LEFT = (0.66, -0.2, 0.25), (0.58, -0.04, 0.25)
IN_LEFT, IN_RIGHT, FLOOR = (0.58, -0.04, 0.03), (0.58, -0.56, 0.03), (0.66, -0.3, 0.03)


def tick(position=BELT, touching=False, speed=0.0, tcp_speed=0.2, force=0.0) -> SceneSample:
    p = np.array(position)
    return SceneSample(0.0, p, float(p[2] - 0.13), speed, p, tcp_speed, touching, force)


def judged(*phases: tuple[int, dict], side="left") -> TrialJudge:
    judge = TrialJudge(BENCH_CELL, NOMINAL, side)
    for count, values in phases:
        for _ in range(count):
            judge.update(tick(**values))
    return judge


GRASP = (5, {"touching": True, "speed": 0.1})
LIFT = (5, {"position": AIR, "touching": True, "speed": 0.1})
CARRY = (5, {"position": HALFWAY, "touching": True, "speed": 0.1})
OVER = (5, {"position": OVER_LEFT, "touching": True, "speed": 0.1})


@pytest.mark.parametrize(
    ("phases", "stage", "mode"),
    [
        ([(50, {})], "approach", "missed_pick"),
        ([GRASP, (50, {"speed": 0.1})], "contact", "missed_pick"),
        ([GRASP, LIFT, (50, {"position": FLOOR})], "lift", "dropped"),
        ([GRASP, LIFT, CARRY, (50, {"position": FLOOR})], "carry", "dropped"),
        ([GRASP, LIFT, CARRY, (50, {"position": HALFWAY, "touching": True, "tcp_speed": 0.0})], "carry", "drift"),
        ([GRASP, LIFT, CARRY], "carry", "timeout"),
        ([GRASP, LIFT, CARRY, OVER], "carry", "failed_release"),
        ([GRASP, LIFT, CARRY, OVER, (50, {"position": IN_RIGHT})], "release", "wrong_bin"),
        ([GRASP, LIFT, CARRY, OVER, (50, {"position": IN_LEFT})], "placed", None),
        ([GRASP, (5, {"force": 200.0})], "contact", "collision"),
    ],
)
def test_outcomes(phases, stage, mode):
    verdict = judged(*phases).verdict()
    assert (verdict.furthest_stage, verdict.failure_mode, verdict.success) == (stage, mode, mode is None)


def test_each_stage_keeps_the_time_of_its_first_tick():
    judge = TrialJudge(BENCH_CELL, NOMINAL, "left")
    values = [tick(**values) for count, values in (GRASP, LIFT, CARRY, GRASP) for _ in range(count)]
    for number, sample in enumerate(values, start=1):
        judge.update(dataclasses.replace(sample, time=number / 50))
    assert judge.reached == {"approach": 0.0, "contact": 1 / 50, "lift": 6 / 50, "carry": 11 / 50}


def test_a_short_knock_is_no_collision():
    assert judged(GRASP, (2, {"force": 200.0}), (5, {})).verdict().failure_mode != "collision"


@pytest.mark.parametrize(
    "rest", [{"touching": True}, {"speed": 0.1}, {"position": (0.58, -0.04, 0.14)}, {"position": (0.48, -0.04, 0.03)}]
)
def test_success_needs_the_bin_a_release_and_rest(rest):
    predicate = SuccessPredicate(BinBox((0.58, -0.04), (0.09, 0.12), 0.12), hold_ticks=5)
    assert not any(predicate.update(tick(**{"position": IN_LEFT, **rest})) for _ in range(20))


def test_success_starts_over_when_the_object_is_touched_again():
    predicate = SuccessPredicate(BinBox((0.58, -0.04), (0.09, 0.12), 0.12), hold_ticks=5)
    flags = [predicate.update(tick(IN_LEFT, touching=i == 3)) for i in range(9)]
    assert flags == [False] * 8 + [True]


def test_the_bin_is_where_the_world_has_it():
    world = NOMINAL.with_part(LayoutParameters(left_bin_offset=(0.3, 0.0)))
    judge = TrialJudge(BENCH_CELL, world, "left")
    for _ in range(50):
        judge.update(tick(IN_LEFT))
    assert not judge.success


def test_a_verdict_needs_a_tick():
    with pytest.raises(ValueError, match="at least one tick"):
        TrialJudge(BENCH_CELL, NOMINAL, "left").verdict()
