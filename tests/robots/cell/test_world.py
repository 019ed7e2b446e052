"""World parameters: JSON, validation, camera geometry."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robots.cell.bench import BENCH_CELL
from robots.cell.world import (
    CameraParameters,
    DynamicsParameters,
    LayoutParameters,
    VisualParameters,
    WorldParameters,
    camera_parameters,
    camera_pose,
    distortion,
    intrinsics,
    nominal_world,
    vertical_fov,
)

small = st.floats(-0.2, 0.2)
triple = st.tuples(small, small, small)


@given(offset=triple, rotvec=triple, focal=st.floats(0.8, 1.3), delay=st.floats(0, 0.1))
def test_a_world_survives_json(offset, rotvec, focal, delay):
    world = WorldParameters(
        VisualParameters({"left_wrist": CameraParameters(focal, offset, rotvec, 0.5, (*offset, 0.1))}, grounded=True),
        LayoutParameters(belt_offset=offset),
        DynamicsParameters(delay=delay),
    )
    assert WorldParameters.from_json(world.to_json()) == world


def test_the_nominal_world_is_ungrounded_in_every_part():
    world = nominal_world(BENCH_CELL)
    assert not (world.visual.grounded or world.layout.grounded or world.dynamics.grounded)
    assert not world.is_grounded


def test_one_part_can_be_exchanged():
    world = nominal_world(BENCH_CELL).with_part(LayoutParameters(belt_offset=(0.1, 0, 0), grounded=True))
    assert world.layout.grounded
    assert not world.dynamics.grounded


@pytest.mark.parametrize(
    ("part", "field", "value", "message"),
    [
        ("dynamics", "delay", 0.5, "dynamics.delay"),
        ("dynamics", "kp_scale", [1.0, 1.0], "dynamics.kp_scale"),
        ("dynamics", "friction", 1.0, "no field"),
        ("visual", "cameras", {"left_wrist": {"distortion_offset": [0.1]}}, "distortion_offset must be 4 numbers"),
        ("layout", "belt_offset", [float("nan"), 0, 0], "layout.belt_offset"),
    ],
)
def test_a_wrong_field_is_named(part, field, value, message):
    raw = json.loads(nominal_world(BENCH_CELL).to_json())
    raw[part][field] = value
    with pytest.raises(ValueError, match=message):
        WorldParameters.from_json(json.dumps(raw))


def test_a_missing_part_is_named():
    with pytest.raises(ValueError, match="'visual'"):
        WorldParameters.from_json("{}")


@given(offset=triple, rotvec=triple)
def test_camera_parameters_invert_camera_pose(offset, rotvec):
    camera = BENCH_CELL.camera("head")
    params = CameraParameters(1.1, offset, rotvec)
    back = camera_parameters(camera, camera_pose(camera, params), 1.1 * camera.focal_px)
    assert np.allclose(back.offset, offset, atol=1e-12)
    assert np.allclose(back.rotvec, rotvec, atol=1e-9)
    assert back.focal_scale == pytest.approx(1.1)


def test_the_optical_axis_meets_the_point_looked_at():
    camera = BENCH_CELL.camera("head")
    T = camera_pose(camera, CameraParameters())
    p = T[:3, :3].T @ (np.array(camera.look_at) - T[:3, 3])
    assert np.allclose(p[:2], 0, atol=1e-12)
    assert p[2] > 0


def test_focal_length_follows_the_image_size():
    camera = BENCH_CELL.camera("right_wrist")
    K = intrinsics(camera, CameraParameters(focal_scale=1.1), 160, 160)
    assert K[0, 0] == pytest.approx(229.0 * 1.1 / 2)


def test_a_world_stored_before_the_lens_had_parameters_is_loaded_as_described():
    raw = json.loads(nominal_world(BENCH_CELL).to_json())
    raw["visual"]["cameras"] = {"left_wrist": {"focal_scale": 1.1, "offset": [0, 0, 0.01]}}
    params = WorldParameters.from_json(json.dumps(raw)).visual.camera("left_wrist")
    camera = BENCH_CELL.camera("left_wrist")
    assert params.focal_scale == 1.1
    assert distortion(camera, params) == camera.distortion


def test_a_measured_lens_is_kept_as_its_offset_from_the_described_one():
    camera, k = BENCH_CELL.camera("left_wrist"), (0.01, -0.02, 0.003, 0.001)
    params = camera_parameters(camera, camera_pose(camera, CameraParameters()), camera.focal_px, k)
    assert distortion(camera, params) == pytest.approx(k)


def test_a_pinhole_takes_no_distortion():
    with pytest.raises(ValueError, match="camera head is a pinhole"):
        distortion(BENCH_CELL.camera("head"), CameraParameters(distortion_offset=(0.1, 0.0, 0.0, 0.0)))


def test_a_fisheye_is_drawn_from_a_wider_field_of_view():
    camera = BENCH_CELL.camera("left_wrist")
    as_pinhole = 2 * np.arctan(camera.height / 2 / camera.focal_px)
    assert as_pinhole + 0.3 < vertical_fov(camera, CameraParameters()) < np.radians(100)
