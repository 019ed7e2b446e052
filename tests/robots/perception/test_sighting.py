"""Belt and objects from depth: on made-up points, and on the bench against its truth."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from robots.cell.bench import BENCH_CELL
from robots.cell.initial import sample_initial_state
from robots.cell.world import CameraParameters, camera_pose, intrinsics
from robots.drivers.bench import BenchCell
from robots.drivers.protocols import CameraFrame
from robots.perception.points import world_points
from robots.perception.sighting import NothingSeenError, fit_rectangle, fit_sphere, see_belt, see_object


@pytest.fixture(scope="module")
def bench() -> Iterator[BenchCell]:
    with BenchCell.start(seed=21) as cell:
        yield cell


def test_points_project_back_onto_their_pixels():
    camera = BENCH_CELL.camera("external")
    depth = np.random.default_rng(0).uniform(0.5, 1.5, (48, 64)).astype(np.float32)
    T = camera_pose(camera, CameraParameters())
    p = (world_points(depth, camera, CameraParameters()) - T[:3, 3]) @ T[:3, :3]
    uv = p @ intrinsics(camera, CameraParameters(), 64, 48).T
    assert np.allclose(uv[..., 0] / uv[..., 2], np.arange(64) + 0.5, atol=1e-4)
    assert np.allclose(p[..., 2], depth, atol=1e-6)


def test_a_wrist_camera_has_no_fixed_place_in_the_world():
    with pytest.raises(ValueError, match="standing camera"):
        world_points(np.ones((4, 4), np.float32), BENCH_CELL.camera("right_wrist"), CameraParameters())
    standing = replace(BENCH_CELL.camera("right_wrist"), parent="world")
    with pytest.raises(ValueError, match="is a fisheye"):
        world_points(np.ones((4, 4), np.float32), standing, CameraParameters())


def test_a_sphere_is_found_from_its_visible_cap():
    rng = np.random.default_rng(0)
    n = rng.normal(size=(500, 3))
    n = n[n[:, 2] > 0.3] / np.linalg.norm(n[n[:, 2] > 0.3], axis=1, keepdims=True)
    center = np.array([0.7, -0.1, 0.12])
    assert np.allclose(fit_sphere(center + 0.0225 * n + rng.normal(0, 5e-4, n.shape), 0.0225), center, atol=5e-4)


@pytest.mark.parametrize("yaw", [-1.2, -0.4, 0.0, 0.3, 0.78, 1.5])
def test_a_rectangle_is_found_up_to_its_symmetry(yaw):
    carton = BENCH_CELL.object("carton")
    local = np.random.default_rng(1).uniform(-1, 1, (1500, 2)) * carton.size[:2]
    R = np.array([[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]])
    center, found = fit_rectangle(local @ R.T + [0.7, -0.1], carton)
    assert np.allclose(center, [0.7, -0.1], atol=1e-3)
    assert abs((found - yaw + np.pi / 2) % np.pi - np.pi / 2) < np.radians(4)


@pytest.mark.parametrize("name", [o.name for o in BENCH_CELL.objects])
def test_objects_on_the_bench_are_seen_within_3_mm(bench, name):
    thing, rng = BENCH_CELL.object(name), np.random.default_rng(3)
    for _ in range(3):
        bench.operator.place(sample_initial_state(BENCH_CELL, rng, objects=(name,)))
        sighting = see_object(bench.drivers.cameras["external"].capture(), BENCH_CELL, thing)
        truth = bench.referee.truth()
        assert np.linalg.norm(sighting.position - truth["object_position"]) < 0.003
        if thing.shape == "box":
            q = truth["object_quat"]
            error = sighting.yaw - 2 * np.arctan2(q[3], q[0])
            period = np.pi if thing.size[0] != thing.size[1] else np.pi / 2
            assert abs((error + period / 2) % period - period / 2) < np.radians(5)


def test_the_belt_on_the_bench_is_measured_within_2_mm(bench):
    import json

    bench.operator.clear()
    frame = bench.drivers.cameras["external"].capture()
    camera = BENCH_CELL.camera("external")
    belt = see_belt(world_points(frame.depth, camera, CameraParameters()), BENCH_CELL)
    offset = np.array(json.loads(bench.referee.truth()["world"])["layout"]["belt_offset"])
    assert belt.top == pytest.approx(BENCH_CELL.belt.center[2] + offset[2], abs=0.002)
    assert belt.center_x == pytest.approx(BENCH_CELL.belt.center[0] + offset[0], abs=0.003)
    assert belt.half_width == pytest.approx(BENCH_CELL.belt.half_width, abs=0.004)


def test_an_empty_belt_is_reported_as_such(bench):
    bench.operator.clear()
    with pytest.raises(NothingSeenError, match="nothing stands"):
        see_object(bench.drivers.cameras["external"].capture(), BENCH_CELL, BENCH_CELL.object("box"))


def test_a_colour_camera_cannot_see_poses():
    frame = CameraFrame(0, np.zeros((4, 4, 3), np.uint8))
    with pytest.raises(NothingSeenError, match="no depth"):
        see_object(frame, BENCH_CELL, BENCH_CELL.object("box"))
