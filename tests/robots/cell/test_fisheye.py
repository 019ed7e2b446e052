"""Images of the wrist fisheyes: blobs against OpenCV's projection, and what the wide image does not reach."""

from dataclasses import replace

import cv2
import mujoco
import numpy as np
import pytest

from robots.cell.bench import BENCH_CELL, WRIST_DISTORTION
from robots.cell.fisheye import FisheyeTable, wide_size
from robots.cell.initial import InitialState
from robots.cell.lens import tangents
from robots.cell.rendering import CellRenderer
from robots.cell.scene import Scene
from robots.cell.world import (
    CameraParameters,
    VisualParameters,
    WorldParameters,
    camera_pose,
    distortion,
    intrinsics,
    nominal_world,
    vertical_fov,
)

CAMERA = BENCH_CELL.camera("right_wrist")
PARAMS = CameraParameters(focal_scale=1.1, distortion_offset=(0.012, -0.004, 0.001, 0.0))
SIZE, DISTANCE, RADIUS = 256, 0.05, 0.0008
WORLD = nominal_world(BENCH_CELL).with_part(VisualParameters({"right_wrist": PARAMS}))


def _blobs() -> np.ndarray:
    """Points (25, 3) in camera coordinates [m], nearer than the hand, out to the image's corners."""
    K = intrinsics(CAMERA, PARAMS, SIZE, SIZE)
    grid = np.linspace(8, SIZE - 8, 5)
    rays = tangents(np.stack(np.meshgrid(grid, grid), -1), K[0, 0], K[:2, 2], distortion(CAMERA, PARAMS))
    points = np.concatenate([rays, np.ones((5, 5, 1))], axis=-1).reshape(-1, 3)
    return DISTANCE * points / np.linalg.norm(points, axis=1, keepdims=True)


def _add_blobs(spec: mujoco.MjSpec) -> None:
    T = camera_pose(CAMERA, PARAMS)
    for position in _blobs() @ T[:3, :3].T + T[:3, 3]:
        spec.body("right_hand_wrist").add_geom(
            type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[RADIUS, 0, 0], pos=position, rgba=[1, 0, 1, 1], contype=0,
            conaffinity=0, mass=0)  # fmt: skip


def _seen_blobs(world: WorldParameters) -> np.ndarray:
    scene = Scene(BENCH_CELL, world, ("box",), extras=_add_blobs)
    scene.reset(InitialState("box", (0.0, 0.25, 0.03), belt_speed=0.0))
    with CellRenderer(scene.model, SIZE, BENCH_CELL, world) as renderer:
        r, g, b = np.moveaxis(renderer.render(scene.data, "right_wrist").astype(int), -1, 0)
    pink = ((np.minimum(r, b) > 40) & (np.minimum(r, b) > 2 * g)).astype(np.uint8)
    return cv2.connectedComponentsWithStats(pink)[3][1:] + 0.5


def test_blobs_lie_where_opencv_projects_them():
    K = intrinsics(CAMERA, PARAMS, SIZE, SIZE)
    k = np.array(distortion(CAMERA, PARAMS))
    expected, _ = cv2.fisheye.projectPoints(_blobs()[None], np.zeros(3), np.zeros(3), K, k)
    seen = _seen_blobs(WORLD)
    assert len(seen) == len(expected[0])
    distance = np.linalg.norm(seen[:, None] - expected[0][None], axis=-1)
    assert distance.min(axis=0).max() < 1.0
    assert np.sqrt((distance.min(axis=0) ** 2).mean()) < 0.5


def test_a_wrist_image_is_covered_to_its_corners():
    for params in (CameraParameters(), PARAMS):
        K, k, fov = intrinsics(CAMERA, params, 96, 96), distortion(CAMERA, params), vertical_fov(CAMERA, params)
        assert k is not None
        assert FisheyeTable(K, k, (96, 96), wide_size((96, 96), K[0, 0], fov, 1.0), fov).is_covered.all()


def test_a_wider_lens_ends_in_black_where_the_drawn_image_does():
    wide = replace(CAMERA, focal_px=130.0)
    K, fov = intrinsics(wide, CameraParameters(), 96, 96), vertical_fov(wide, CameraParameters())
    assert np.degrees(fov) == pytest.approx(150)
    size = wide_size((96, 96), K[0, 0], fov, 1.0)
    table = FisheyeTable(K, WRIST_DISTORTION, (96, 96), size, fov)
    image = table.look_up(np.full((*size, 3), 200, np.uint8))
    assert not table.is_covered[0, 0]
    assert (image[~table.is_covered] == 0).all()
    assert (image[48] == 200).all()


def test_the_table_finds_the_place_that_shows_the_same_ray():
    """An image that holds its own x and y tangents: looked up, it holds those of the fisheye's pixels."""
    K, k, fov = intrinsics(CAMERA, PARAMS, 64, 64), distortion(CAMERA, PARAMS), vertical_fov(CAMERA, PARAMS)
    assert k is not None
    half, side = np.tan(fov / 2), 240
    ramp = ((np.arange(side) + 0.5) / side * 255).astype(np.uint8)
    wide = np.stack([np.tile(ramp, (side, 1)), np.tile(ramp[:, None], (1, side)), np.zeros((side, side), np.uint8)], -1)
    got = FisheyeTable(K, k, (64, 64), (side, side), fov).look_up(wide)[..., :2] / 255 * 2 * half - half
    pixels = np.stack(np.meshgrid(np.arange(64) + 0.5, np.arange(64) + 0.5), axis=-1)
    np.testing.assert_allclose(got[1:-1, 1:-1], tangents(pixels, K[0, 0], K[:2, 2], k)[1:-1, 1:-1], atol=0.015)


def test_a_fisheye_gives_no_depth():
    scene = Scene(BENCH_CELL, WORLD, ("box",))
    with (
        CellRenderer(scene.model, 32, BENCH_CELL, WORLD) as renderer,
        pytest.raises(ValueError, match="right_wrist is a fisheye and has no depth"),
    ):
        renderer.render_depth(scene.data, "right_wrist")
