"""Registration: each part on synthetic data with known answers, and all of it against a bench cell's hidden truth."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from generation.__main__ import main
from generation.world.bundle import BoardView, Bundle, CalibrationError
from generation.world.cameras import CameraStart, calibrate
from generation.world.corners import find_corners
from generation.world.excitation import excitation
from generation.world.identification import JointRecording, ResponseSimulation, identify_dynamics
from generation.world.layout import bin_offset, marks, register_layout
from robots.cell.bench import BENCH_CELL, WRIST_DISTORTION
from robots.cell.description import BinDescription
from robots.cell.lens import Distortion, project, tangents
from robots.cell.world import DynamicsParameters, WorldParameters, camera_pose, distortion, intrinsics
from robots.drivers.bench import BenchCell
from robots.drivers.bench.board import CORNERS, corner_points
from robots.perception.sighting import NothingSeenError, ObjectSighting

SIZE, FOCAL = (320, 320), 252.0
LENS: Distortion = (-0.008, 0.002, -0.002, 0.0005)


def _pose(rotvec: tuple[float, float, float], position: tuple[float, float, float]) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = Rotation.from_rotvec(rotvec).as_matrix(), position
    return T


C_TRUE = _pose((0.05, -0.02, 0.1), (0.01, 0.02, 0.0))
SPREAD = 0.1
B_TRUE = _pose((np.pi, 0.0, 0.0), (0.0, 0.0, 0.35))


def _views(count: int, k: Distortion | None = None, noise: float = 0.1) -> list[BoardView]:
    rng = np.random.default_rng(0)
    views = []
    for _ in range(count):
        A = _pose(tuple(rng.uniform(-0.3, 0.3, 3)), tuple(rng.uniform(-SPREAD, SPREAD, 3)))
        p = (np.linalg.inv(C_TRUE) @ A @ B_TRUE @ np.c_[corner_points(), np.ones(54)].T).T[:, :3]
        u = project(p, FOCAL, np.array(SIZE) / 2, k)
        views.append(BoardView(u + rng.normal(0, noise, (54, 2)), A))
    return views


def test_a_camera_is_found_from_a_wrong_description() -> None:
    described = _pose((0.07, 0.0, 0.08), (0.014, 0.018, 0.002))
    fit = calibrate(_views(14), corner_points(), CameraStart(SIZE, 229.0, described), images=15)
    assert fit.focal_px == pytest.approx(FOCAL, rel=0.003)
    np.testing.assert_allclose(fit.T_parent_camera, C_TRUE, atol=1e-3)
    assert fit.rms_px < 0.2 < fit.nominal_px
    assert fit.leave_one_out_px < 0.25
    assert (fit.found, fit.images, fit.lens, fit.distortion) == (14, 15, "pinhole", None)


def test_a_fisheye_is_found_from_a_wrong_description() -> None:
    """Within the circle that touches the image's sides its rays are the true ones to a third of a pixel."""
    described = CameraStart(SIZE, 229.0, _pose((0.07, 0.0, 0.08), (0.014, 0.018, 0.002)), WRIST_DISTORTION)
    fit = calibrate(_views(14, LENS), corner_points(), described, images=14)
    center = np.array(SIZE) / 2
    angle = np.linspace(0, 2 * np.pi, 24)
    pixels = center + np.linspace(20, 155, 8)[:, None, None] * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    rays = np.insert(tangents(pixels, FOCAL, center, LENS), 2, 1.0, axis=-1)
    T = np.linalg.inv(fit.T_parent_camera) @ C_TRUE
    seen = project(0.35 * rays @ T[:3, :3].T + T[:3, 3], fit.focal_px, center, fit.distortion)
    assert np.linalg.norm(seen - pixels, axis=-1).max() < 0.35
    assert fit.lens == "fisheye"
    assert fit.rms_px < 0.2 < 5 * fit.rms_px < fit.other_lens_px
    assert fit.leave_one_out_px < 0.25


@pytest.mark.parametrize(
    ("true", "described", "message"),
    [(LENS, None, "as a pinhole, but a fisheye fits"), (None, WRIST_DISTORTION, "as a fisheye, but a pinhole fits")],
)
def test_the_wrong_kind_of_lens_is_refused(true: Distortion | None, described: Distortion | None, message: str) -> None:
    with pytest.raises(CalibrationError, match=rf"described {message} it: [\d.]+ px as a pinhole"):
        calibrate(_views(14, true), corner_points(), CameraStart(SIZE, 240.0, C_TRUE, described), images=14)


def test_corners_where_the_described_lens_sees_nothing_are_refused() -> None:
    described = CameraStart(SIZE, 40.0, C_TRUE, WRIST_DISTORTION)
    with pytest.raises(CalibrationError, match="sees nothing where the first image shows corners"):
        calibrate(_views(4, LENS), corner_points(), described, images=4)


@pytest.mark.parametrize("k", [np.zeros(4), np.array(WRIST_DISTORTION)])
def test_a_distortion_that_was_not_found_is_refused(k: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Bundle, "solve", lambda self, start: replace(start, k=None if start.k is None else k))
    exact = CameraStart(SIZE, FOCAL, C_TRUE, WRIST_DISTORTION)
    with pytest.raises(CalibrationError, match="distortion stayed at"):
        calibrate(_views(4, WRIST_DISTORTION), corner_points(), exact, images=4)


def test_under_three_views_are_refused() -> None:
    with pytest.raises(CalibrationError, match="found in 2 of 9 images"):
        calibrate(_views(2), corner_points(), CameraStart(SIZE, 229.0, C_TRUE), images=9)


def _drawn_board() -> np.ndarray:
    """10 x 7 squares of 20 px in a margin of 40; corner (i, j) is at x = 60 + 20 i, y = 160 - 20 j."""
    square, columns, rows = 20, CORNERS[0] + 1, CORNERS[1] + 1
    c, r = np.meshgrid(np.arange(columns), np.arange(rows)[::-1])
    board = np.kron(np.where((c + r) % 2 == 0, 10, 245), np.ones((square, square))).astype(np.uint8)
    return np.pad(board, 40, constant_values=245)


def test_an_image_without_a_board_gives_no_corners() -> None:
    assert find_corners(np.full((120, 160, 3), 90, np.uint8), CORNERS) is None


@pytest.mark.parametrize("turns", [0, 2])
def test_corners_keep_the_boards_own_order_however_it_is_turned(turns: int) -> None:
    image = _drawn_board()
    corners = find_corners(np.repeat(np.rot90(image, turns)[..., None], 3, axis=2).copy(), CORNERS)
    assert corners is not None
    first = np.array([60.0, 160.0])
    if turns == 2:
        first = np.array(image.shape[::-1]) - first
    np.testing.assert_allclose(corners[0], first, atol=0.6)


def test_a_hand_before_the_boards_edge_does_not_turn_it() -> None:
    image = _drawn_board()
    image[:58, 200:] = 20  # hides the outer squares above the last corner, and none of the corners
    corners = find_corners(np.repeat(image[..., None], 3, axis=2), CORNERS)
    assert corners is not None
    np.testing.assert_allclose(corners[0], [60, 160], atol=0.6)


def test_gains_and_delay_are_found_again() -> None:
    rng = np.random.default_rng(1)
    kp, kv = 0.8 * rng.uniform(0.94, 1.06, 7), 1.2 * rng.uniform(0.94, 1.06, 7)
    truth = DynamicsParameters(tuple(kp), tuple(kv), hand_kp_scale=0.93, hand_kv_scale=1.08, delay=0.036)
    simulation = ResponseSimulation(BENCH_CELL, 1)

    def recording(seconds: float) -> JointRecording:
        targets = excitation(BENCH_CELL, seconds, rng)
        measured = targets.copy()
        measured[:, :27] = simulation.run([truth], JointRecording(targets, targets))[0]
        return JointRecording(targets, measured + rng.normal(0, 1e-4, measured.shape))

    fit = identify_dynamics(BENCH_CELL, recording(4.0), recording(2.0))
    np.testing.assert_allclose(fit.parameters.kp_scale, kp, rtol=0.05)
    np.testing.assert_allclose(fit.parameters.kv_scale, kv, rtol=0.05)
    assert fit.parameters.delay == pytest.approx(0.036, abs=0.003)
    assert fit.tcp_rms_mm < 0.5 < fit.nominal_tcp_rms_mm


def test_excitation_starts_and_ends_at_home_within_speed_limits() -> None:
    targets = excitation(BENCH_CELL, 10.0, np.random.default_rng(0))
    np.testing.assert_allclose(targets[[0, -1]], np.tile(BENCH_CELL.home_state, (2, 1)), atol=1e-9)
    speed = np.abs(np.diff(targets[:, :7], axis=0)).max(0) * 50
    assert (speed < [joint.velocity for joint in BENCH_CELL.right_arm.joints]).all()


def test_a_bin_is_placed_by_its_rim() -> None:
    bin_ = BinDescription((0.58, -0.04))
    rng = np.random.default_rng(0)
    hx, hy = bin_.half_extents
    around = [(s * hx, rng.uniform(-hy, hy)) if k % 2 else (rng.uniform(-hx, hx), s * hy)
              for k in range(500) for s in (-1, 1)]  # fmt: skip
    points = np.c_[np.add(around, [0.58 + 0.007, -0.04 - 0.004]), np.full(len(around), bin_.height)]
    x, y = bin_offset(points + rng.normal(0, 0.001, points.shape), bin_)
    assert x == pytest.approx(0.007, abs=0.001)
    assert y == pytest.approx(-0.004, abs=0.001)


def test_unseen_objects_and_bins_are_reported() -> None:
    placed = marks(BENCH_CELL)
    with pytest.raises(NothingSeenError, match="0 of 8 objects"):
        register_layout(BENCH_CELL, placed, [None] * len(placed), np.zeros((4, 4, 3)))
    seen = [ObjectSighting(np.array(BENCH_CELL.belt.center) + i.position, 0.0, 0.1) for i in placed]
    with pytest.raises(NothingSeenError, match="rim of the bin"):
        register_layout(BENCH_CELL, placed, seen, np.zeros((4, 4, 3)))


def _lens_error_px(name: str, world: WorldParameters, truth: WorldParameters) -> float:
    """RMS [px] between where two worlds show points at arm's length, within the circle touching the image's sides."""
    camera = BENCH_CELL.camera(name)
    ours, true = world.visual.camera(name), truth.visual.camera(name)
    K, K_true = (intrinsics(camera, params, camera.width, camera.height) for params in (ours, true))
    at = np.stack(np.meshgrid(*2 * [np.linspace(5, camera.width - 5, 20)]), axis=-1).reshape(-1, 2)
    at = at[np.linalg.norm(at - K_true[:2, 2], axis=1) < camera.width / 2]
    rays = np.insert(tangents(at, K_true[0, 0], K_true[:2, 2], distortion(camera, true)), 2, 1.0, axis=-1)
    T = np.linalg.inv(camera_pose(camera, ours)) @ camera_pose(camera, true)
    seen = project(0.4 * rays @ T[:3, :3].T + T[:3, 3], K[0, 0], K[:2, 2], distortion(camera, ours))
    return float(np.sqrt(((seen - at) ** 2).sum(1).mean()))


@pytest.mark.slow
def test_a_bench_cell_is_measured_to_its_hidden_truth(tmp_path: Path) -> None:
    config = tmp_path / "c.json"
    config.write_text(json.dumps({"bench_seed": 3, "excitation_s": 10, "holdout_s": 5}))
    assert main(["register", str(config), str(tmp_path / "out"), "--events"]) == 0
    world = WorldParameters.from_json((tmp_path / "out" / "world.json").read_text())
    with BenchCell.start(seed=3) as bench:
        truth = WorldParameters.from_json(bench.referee.truth()["world"])
    assert world.is_grounded
    np.testing.assert_allclose(world.layout.belt_offset, truth.layout.belt_offset, atol=0.003)
    for side in ("left", "right"):
        np.testing.assert_allclose(world.layout.bin_offset(side), truth.layout.bin_offset(side), atol=0.006)
    np.testing.assert_allclose(world.dynamics.kp_scale, truth.dynamics.kp_scale, rtol=0.1)
    np.testing.assert_allclose(world.dynamics.kv_scale, truth.dynamics.kv_scale, rtol=0.1)
    assert world.dynamics.delay == pytest.approx(truth.dynamics.delay, abs=0.004)
    for name in BENCH_CELL.policy_views:
        found, true = world.visual.camera(name), truth.visual.camera(name)
        assert found.focal_scale == pytest.approx(true.focal_scale, rel=0.015)
        np.testing.assert_allclose(found.offset, true.offset, atol=0.005)
        np.testing.assert_allclose(found.rotvec, true.rotvec, atol=0.008)
    for name in ("right_wrist", "left_wrist"):
        assert _lens_error_px(name, world, truth) < 0.5
    residuals = json.loads((tmp_path / "out" / "residuals.json").read_text())
    assert residuals["dynamics"]["held_out_tcp_rms_mm"] < 1.65
    assert all(camera["leave_one_out_px"] < 0.85 for camera in residuals["cameras"].values())
