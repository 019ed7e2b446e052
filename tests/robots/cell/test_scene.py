"""The compiled scene: belt, objects, delay, fixed and dynamic left arm."""

from dataclasses import replace

import numpy as np
import pytest

from robots.cell.bench import BENCH_CELL
from robots.cell.initial import InitialState
from robots.cell.scene import Scene
from robots.cell.world import DynamicsParameters, LayoutParameters, nominal_world

NOMINAL = nominal_world(BENCH_CELL)
HOME = BENCH_CELL.home_state


@pytest.fixture(scope="module")
def scene() -> Scene:
    return Scene(BENCH_CELL, NOMINAL)


def start(name: str, **changes) -> InitialState:
    half = BENCH_CELL.object(name).half_height
    return replace(InitialState(name, (0.0, 0.3, half), belt_speed=0.15), **changes)


@pytest.mark.parametrize("name", [o.name for o in BENCH_CELL.objects])
def test_every_object_rides_on_the_belt_at_its_speed(scene, name):
    scene.reset(start(name))
    before = scene.object_pose()[0]
    for _ in range(50):
        scene.step(HOME)
    moved = scene.object_pose()[0] - before
    assert moved[1] == pytest.approx(-0.15, abs=0.01)
    assert abs(moved[0]) < 0.002
    assert scene.sample().object_height == pytest.approx(0.0, abs=0.002)


def test_the_start_is_laid_out_relative_to_the_worlds_belt():
    shifted = NOMINAL.with_part(LayoutParameters(belt_offset=(0.024, -0.018, 0.014)))
    positions = []
    for world in (NOMINAL, shifted):
        scene = Scene(BENCH_CELL, world, ("can",))
        scene.reset(start("can"))
        positions.append(scene.object_pose()[0])
    assert np.allclose(positions[1] - positions[0], [0.024, -0.018, 0.014])


def test_a_raised_belt_carries_the_object_higher_and_is_lowered_again(scene):
    scene.reset(start("box", belt_raise=0.004))
    high = scene.object_pose()[0][2]
    scene.reset(start("box"))
    assert high - scene.object_pose()[0][2] == pytest.approx(0.004)


def test_a_scene_without_the_object_says_so():
    scene = Scene(BENCH_CELL, NOMINAL, ("can",))
    with pytest.raises(KeyError, match="'box'"):
        scene.reset(start("box"))


def test_the_left_arm_reads_its_holding_pose_when_fixed_and_stays_there_when_dynamic(scene):
    scene.reset(start("box"))
    assert np.allclose(scene.state()[27:], HOME[27:])
    dynamic = Scene(BENCH_CELL, NOMINAL, ("box",), left_arm="dynamic")
    dynamic.reset(start("box"))
    for _ in range(50):
        dynamic.step(HOME)
    assert np.abs(dynamic.state() - HOME)[27:34].max() < 0.01
    for name in ("left_hand_wrist", "left_hand_tcp"):
        kind = "site" if name.endswith("tcp") else "body"
        poses = [getattr(s.data, kind)(name).xpos for s in (scene, dynamic)]
        assert np.allclose(*poses, atol=0.01)


def test_a_command_acts_after_the_worlds_delay():
    reached = {}
    for delay in (0.0, 0.06):
        scene = Scene(BENCH_CELL, NOMINAL.with_part(DynamicsParameters(delay=delay)), ("box",))
        scene.reset(start("box"))
        target = HOME.copy()
        target[6] += 0.2
        steps = []
        for _ in range(8):
            scene.step(target)
            steps.append(scene.state()[6] - HOME[6])
        reached[delay] = np.array(steps)
    assert np.abs(reached[0.06][:3]).max() < 1e-4
    assert np.allclose(reached[0.06][3:], reached[0.0][:5], atol=2e-3)


def test_stepping_is_reproducible(scene):
    ends = []
    for _ in range(2):
        scene.reset(start("ball", belt_speed=0.2))
        for _ in range(30):
            scene.step(HOME)
        ends.append(scene.data.qpos.copy())
    assert np.array_equal(*ends)


def test_mass_and_appearance_follow_the_start(scene):
    scene.reset(start("can", mass=0.3))
    assert scene.model.body_mass[scene.object_body] == 0.3
    shown = scene.model.geom_rgba[:, 3][[scene.model.geom(f"object_{o.name}").id for o in BENCH_CELL.objects]]
    assert shown.tolist() == [0, 1, 0, 0, 0, 0]
