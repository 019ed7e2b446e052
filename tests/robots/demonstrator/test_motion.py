"""The intended motion: smooth, in phases, with the object on the belt."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robots.cell.bench import BENCH_CELL
from robots.cell.kinematics import ArmKinematics
from robots.demonstrator.motion import PHASES, Motion, SeenObject, grasp_yaw, minimum_jerk
from robots.demonstrator.person import Demonstrator
from robots.demonstrator.style import sample_style

TIME = np.arange(0, 8, 0.02)


def seen(name: str = "can", speed: float = 0.1, yaw: float = 0.0) -> SeenObject:
    thing = BENCH_CELL.object(name)
    return SeenObject(thing, np.array([0.77, -0.34 + 2.3 * speed, 0.1 + thing.half_height]), yaw, speed, 0.1)


def motion(seed: int, name: str = "can", speed: float = 0.1) -> Motion:
    return Motion(BENCH_CELL, seen(name, speed), "left", sample_style(np.random.default_rng(seed)))


def test_minimum_jerk_starts_and_ends_at_rest():
    s = np.array([minimum_jerk(t, 1.0, 2.0) for t in (0.5, 1.0, 1.5, 2.0, 3.0)])
    assert s == pytest.approx([0, 0, 0.5, 1, 1])
    h = 1e-3
    assert minimum_jerk(1 + h, 1, 2) / h < 1e-4


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), speed=st.floats(0.05, 0.2), name=st.sampled_from(BENCH_CELL.demonstrated_objects))
def test_the_path_is_smooth_and_never_faster_than_a_hand(seed, speed, name):
    path = np.array([motion(seed, name, speed).position(t) for t in TIME])
    v = np.diff(path, axis=0) / 0.02
    a = np.diff(v, axis=0) / 0.02
    assert np.linalg.norm(v, axis=1).max() < 1.2
    assert np.linalg.norm(a, axis=1).max() < 8.0


def test_at_the_grasp_the_hand_moves_with_the_object():
    m = motion(3, speed=0.15)
    t = m.timing.grasp + 0.1
    assert (m.position(t + 0.01) - m.position(t))[1] / 0.01 == pytest.approx(-0.15, abs=0.005)
    object_at = m.seen.position + np.array([0, -0.15 * t, 0])
    assert np.allclose(m.position(t)[:2], object_at[:2], atol=1e-3)


def test_the_hand_is_open_before_and_after_and_closed_in_between():
    m = motion(4)
    assert m.closing(0.0) == 0.0
    assert m.closing(m.timing.carry[0]) == 1.0
    assert m.closing(m.timing.end) == 0.0


def test_the_object_is_let_go_over_its_bin():
    m = motion(5)
    assert np.allclose(m.position(m.timing.release[0])[:2], BENCH_CELL.left_bin.center, atol=0.01)


def test_phases_follow_each_other_without_gap(kinematics):
    person = Demonstrator(BENCH_CELL, kinematics, seen(), "left", np.random.default_rng(0))
    phases = person.phases(person.ticks)
    assert tuple(phases) == PHASES
    ranges = list(phases.values())
    assert ranges[0][0] == 0
    assert ranges[-1][1] == person.ticks
    assert all(a[1] == b[0] and a[0] < a[1] for a, b in pairwise(ranges))


def test_some_reaches_are_corrected_and_styles_differ():
    styles = [sample_style(np.random.default_rng(i)) for i in range(200)]
    corrected = np.mean([s.correction is not None for s in styles])
    assert 0.15 < corrected < 0.35
    assert np.std([s.reaction for s in styles]) > 0.02
    trembles = np.array([styles[0].tremble(t) for t in TIME])
    assert 1e-4 < np.abs(trembles).max() < 0.01


def test_a_corrected_reach_ends_where_a_clean_one_does():
    style = next(s for s in (sample_style(np.random.default_rng(i)) for i in range(100)) if s.correction)
    m = Motion(BENCH_CELL, seen(), "left", style)
    before, after = m.timing.reach[1] - 0.3, m.timing.grasp
    offset = [np.linalg.norm(m.position(t)[:2] - m._follow(t)) for t in (before, after)]
    assert offset[0] > 0.01
    assert offset[1] < 1e-3


@pytest.mark.parametrize(("yaw", "folded"), [(0.2, 0.2), (np.pi / 2 + 0.2, 0.2), (-0.3, -0.3), (np.pi, 0.0)])
def test_a_box_is_grasped_across_its_nearest_faces(yaw, folded):
    assert grasp_yaw(seen("box", yaw=yaw)) == pytest.approx(folded, abs=1e-9)
    assert grasp_yaw(seen("can", yaw=yaw)) == 0.0


@pytest.fixture(scope="module")
def kinematics() -> ArmKinematics:
    return ArmKinematics(BENCH_CELL)
