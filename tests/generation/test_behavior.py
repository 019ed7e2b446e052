"""Demonstrations cut into phases and adapted; grasps and routes synthesised."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.behavior.adapt import adapt, select_source
from generation.behavior.demonstration import Demonstration, closure, segment
from generation.behavior.grasps import FRICTION_ANGLE, NARROWEST, WIDEST, NoGraspError, propose
from generation.behavior.plan import Phase, min_jerk, sample_rotations, tool_rotation, tool_yaw
from generation.behavior.recordings import load_demonstrations
from generation.behavior.synthesize import BlockedError, Synthesizer, trapezoid
from generation.behavior.task import PickTask, nearest_turn
from robots.cell import handshapes
from robots.cell.bench import BENCH_CELL
from robots.cell.description import CONTROL_DT, ObjectDescription
from robots.cell.initial import sample_initial_state
from robots.cell.world import WorldParameters
from robots.episodes import EpisodesWriter, Feature
from robots.errors import DataError


def _task(world: WorldParameters, name: str, seed: int = 5, speed: float = 0.12) -> PickTask:
    rng = np.random.default_rng(seed)
    initial = sample_initial_state(BENCH_CELL, rng, objects=(name,), belt_speed=(speed, speed))
    return PickTask.of(BENCH_CELL, world, initial)


# ---- ramps and turns
@given(st.floats(0, 2), st.floats(0.1, 2))
def test_ramps_rise_from_zero_to_one(start: float, duration: float) -> None:
    t = np.linspace(start - 0.5, start + duration + 0.5, 200)
    for ramp in (min_jerk(t, start, start + duration), trapezoid(t, start, start + duration)):
        assert ramp[0] == 0 and ramp[-1] == pytest.approx(1)
        assert (np.diff(ramp) >= -1e-12).all()


def test_rotations_are_interpolated_the_short_way() -> None:
    ends = np.stack([tool_rotation(-0.2), tool_rotation(0.4)])
    assert tool_yaw(sample_rotations(ends, np.array([0.5])))[0] == pytest.approx(0.1)


@given(st.floats(-20, 20), st.sampled_from([math.pi / 2, math.pi]), st.floats(-1, 1))
def test_the_nearest_turn_differs_by_whole_periods_and_is_near(angle: float, period: float, target: float) -> None:
    turn = nearest_turn(angle, period, target)
    assert abs(turn - target) <= period / 2 + 1e-9
    assert math.remainder(turn - angle, period) == pytest.approx(0, abs=1e-9)


def test_an_object_that_has_passed_the_reach_is_refused(world: WorldParameters) -> None:
    task = _task(world, "can")
    late = replace(task, position=task.position - [0, 2.0, 0])
    with pytest.raises(ValueError, match="past the reach"):
        late.close_time(2.0)


# ---- demonstrations
def test_phases_come_in_order_and_match_the_motion(demonstrations: list[Demonstration]) -> None:
    assert [demo.task.object.name for demo in demonstrations] == list(BENCH_CELL.demonstrated_objects)
    for demo in demonstrations:
        s = demo.segments
        assert 0 < s.close < s.lift < s.lower <= s.open < s.retreat < len(demo.position)
        assert closure(demo.hand)[s.lift] > 0.8
        grasp_height = demo.position[s.lift, 2] - demo.task.top
        assert -0.035 < grasp_height < 0.0
        assert np.linalg.norm(demo.position[s.open, :2] - demo.task.bin_center) < 0.05


def test_a_hand_that_never_closes_is_no_demonstration() -> None:
    with pytest.raises(ValueError, match="never closes"):
        segment(np.zeros((50, 3)), np.tile(handshapes.OPEN, (50, 1)))


def test_a_recording_of_another_robot_is_refused(tmp_path: Path, world: WorldParameters) -> None:
    features = {"action": Feature.vector(["a"])}
    EpisodesWriter.create(tmp_path / "e", fps=30, robot_type="g1", features=features).close()
    with pytest.raises(DataError, match="g1 at 30 Hz"):
        load_demonstrations(tmp_path / "e", BENCH_CELL, world)


# ---- adaptation
def test_adapted_to_its_own_scene_a_demonstration_is_itself(demonstrations: list[Demonstration]) -> None:
    for demo in demonstrations:
        own = replace(demo.task, reach=(-2.0, 2.0))
        plan = adapt(demo, own)
        close = demo.segments.close
        np.testing.assert_allclose(plan.position, demo.position[: len(plan)], atol=2e-3)
        np.testing.assert_allclose(plan.hand[close], demo.hand[close], atol=1e-9)


def test_the_grasp_rides_with_the_new_object(demonstrations: list[Demonstration], world: WorldParameters) -> None:
    """Hand and object keep their relative pose and velocity at another speed, place and heading of the object."""
    demo = demonstrations[0]
    task = replace(_task(world, "box", speed=0.05), yaw=demo.task.yaw + 0.3)
    plan = adapt(demo, task)
    start = int(np.argmax(plan.phases == Phase.GRASP))
    t = np.arange(start, start + 10) * CONTROL_DT
    source = np.arange(demo.segments.close, demo.segments.close + 10)
    relative = plan.position[start : start + 10] - task.top_center(t)
    turn = tool_yaw(plan.rotation[start]) - tool_yaw(demo.rotation[demo.segments.close])
    before = demo.position[source] - demo.task.top_center(source * CONTROL_DT)
    c, s = math.cos(turn), math.sin(turn)
    expected = before @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]).T
    np.testing.assert_allclose(relative, expected, atol=2.5e-3)
    assert abs(tool_yaw(plan.rotation[start])) <= math.pi / 4 + 0.1


def test_the_release_is_over_the_assigned_bin(demonstrations: list[Demonstration], world: WorldParameters) -> None:
    for name, side in (("can", "left"), ("box", "right")):
        task = _task(world, name)
        bin_ = BENCH_CELL.bin(side)
        task = replace(task, side=side, bin_center=np.array(bin_.center), bin_yaw=bin_.drop_yaw)
        plan = adapt(next(d for d in demonstrations if d.task.object.name == name), task)
        opens = int(np.argmax(plan.phases == Phase.RELEASE))
        assert np.linalg.norm(plan.position[opens, :2] - task.bin_center) < 0.04


def test_every_plan_starts_at_home(demonstrations: list[Demonstration], world: WorldParameters) -> None:
    plan = adapt(demonstrations[1], _task(world, "can"))
    np.testing.assert_allclose(plan.position[0], BENCH_CELL.home, atol=0.005)


def test_the_source_shows_the_same_object(demonstrations: list[Demonstration], world: WorldParameters) -> None:
    rng = np.random.default_rng(0)
    for name in BENCH_CELL.demonstrated_objects:
        assert select_source(demonstrations, _task(world, name), rng).task.object.name == name
    with pytest.raises(ValueError, match="no demonstration"):
        select_source([], _task(world, "can"), rng)


# ---- grasps and routes
@settings(max_examples=30, deadline=None)
@given(st.sampled_from(BENCH_CELL.objects), st.floats(-math.pi, math.pi), st.integers(0, 1000))
def test_grasps_are_antipodal_fit_the_hand_and_stay_comfortable(
    thing: ObjectDescription, heading: float, seed: int
) -> None:
    grasp = propose(thing, heading, np.random.default_rng(seed))
    assert NARROWEST <= grasp.width <= WIDEST
    assert 0 < grasp.depth < 2 * thing.half_height
    assert abs(heading + grasp.yaw) <= math.pi / 2 + 1e-9
    if thing.shape == "box":
        off_axis = min(abs(math.remainder(grasp.yaw, math.pi)), abs(math.remainder(grasp.yaw - math.pi / 2, math.pi)))
        assert off_axis <= FRICTION_ANGLE


def test_an_object_wider_than_the_hand_has_no_grasp() -> None:
    crate = ObjectDescription("crate", "box", (0.05, 0.05, 0.03), 0.3, (1, 1, 1, 1))
    with pytest.raises(NoGraspError, match="crate"):
        propose(crate, 0.0, np.random.default_rng(0))


def test_routes_pass_clear_of_belt_bins_and_floor(world: WorldParameters) -> None:
    planner = Synthesizer.of(BENCH_CELL, world)
    for seed, name in enumerate(("box", "bottle", "jar")):
        plan = planner.plan(_task(world, name, seed), np.random.default_rng(seed))
        spheres = planner.hand.along(plan.position, plan.rotation)
        assert planner.surroundings.clearance(spheres, planner.hand.radii).min() > 0
        assert list(np.unique(plan.phases)) == [phase.value for phase in Phase]


def test_a_wall_in_the_way_blocks_every_route(world: WorldParameters) -> None:
    planner = Synthesizer.of(BENCH_CELL, world)
    wall = replace(
        planner.surroundings,
        centers=np.vstack([planner.surroundings.centers, [0.66, -0.3, 0.3]]),
        halves=np.vstack([planner.surroundings.halves, [0.02, 0.6, 0.3]]),
    )
    with pytest.raises(BlockedError, match="no free route"):
        replace(planner, surroundings=wall).plan(_task(world, "can"), np.random.default_rng(0))
