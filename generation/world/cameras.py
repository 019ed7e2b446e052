"""Calibrate a pinhole camera from a checkerboard, with the robot's kinematics in one bundle.

Two ways to see the board, one equation: with the camera on the wrist and the board standing in the world,
A = T_wrist_world; with the camera standing and the board fixed to the hand, A = T_world_wrist. Then

    u = pi(K, C^-1 A_i B X),    C = T_parent_camera,  B = pose of the board,

with unknown focal length, C and B; the pose of every image comes from the measured joints.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from generation.arrays import Array

MIN_VIEWS = 3
WORST_RMS_PX = 2.0


class CalibrationError(RuntimeError):
    """The images do not calibrate the camera; the message says why."""


class BoardView(NamedTuple):
    """One image in which the board was found."""

    corners: Array  # (N, 2) [px], pixel centres at half-integers
    A: Array  # (4, 4), see the module's equation


@dataclass(frozen=True)
class CameraFit:
    """A calibrated camera.

    Attributes:
        focal_px: of the image the corners come from. T_parent_camera: (4, 4). T_board: B, (4, 4).
        rms_px: over all corners. leave_one_out_px: mean RMS of views predicted without them, from robot poses alone.
        nominal_px: RMS with the pose and focal length as described. found, images: views with a board, and in all.
    """

    focal_px: float
    T_parent_camera: Array
    T_board: Array
    rms_px: float
    leave_one_out_px: float
    nominal_px: float
    found: int
    images: int


def find_corners(image: NDArray[np.uint8], pattern: tuple[int, int]) -> Array | None:
    """Inner corners (N, 2) [px] of a checkerboard, row by row along x with y up and the first dark square at -x, -y.

    None where the board is not seen whole.
    """
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    found, corners = cv2.findChessboardCornersSB(grey, pattern, flags=cv2.CALIB_CB_EXHAUSTIVE | cv2.CALIB_CB_ACCURACY)
    if not found:
        return None
    columns, rows = pattern
    grid = corners.reshape(rows, columns, 2).astype(float)
    along, up = grid[0, -1] - grid[0, 0], grid[-1, 0] - grid[0, 0]
    if along[0] * up[1] - along[1] * up[0] > 0:  # y must point up when seen from the front
        grid = grid[::-1]
    if not _is_dark_first(grey, grid):
        grid = grid[::-1, ::-1]
    return grid.reshape(-1, 2) + 0.5


def calibrate(
    views: Sequence[BoardView], points: Array, size: tuple[int, int], focal_px: float, C: Array, images: int
) -> CameraFit:
    """Bundle over all views from a described focal length and pose C.

    Args:
        points: corners (N, 3) in the board's frame [m]. size: (width, height) of the images [px].
        images: how many were taken, for the report.

    Raises:
        CalibrationError: fewer than 3 views, or an RMS above 2 px.
    """
    if len(views) < MIN_VIEWS:
        raise CalibrationError(
            f"the board was found in {len(views)} of {images} images; at least {MIN_VIEWS} are needed"
        )
    center = np.array(size) / 2
    start = np.concatenate(
        [[np.log(focal_px)], _vector(C), _vector(_first_board(views[0], points, focal_px, center, C))]
    )
    nominal_board = least_squares(
        lambda x: _residuals(np.concatenate([start[:7], x]), views, points, center), start[7:], loss="soft_l1"
    ).x
    nominal = _rms(np.concatenate([start[:7], nominal_board]), views, points, center)
    x = _bundle(np.concatenate([start[:7], nominal_board]), views, points, center)
    rms = _rms(x, views, points, center)
    if rms > WORST_RMS_PX:
        raise CalibrationError(f"reprojection RMS is {rms:.2f} px, more than {WORST_RMS_PX} px: the fit is not usable")
    return CameraFit(
        focal_px=float(np.exp(x[0])),
        T_parent_camera=_matrix(x[1:7]),
        T_board=_matrix(x[7:]),
        rms_px=rms,
        leave_one_out_px=_leave_one_out(x, views, points, center),
        nominal_px=nominal,
        found=len(views),
        images=images,
    )


def rotation_angle(R: Array) -> float:
    """Angle of a rotation matrix [rad]."""
    return float(np.linalg.norm(Rotation.from_matrix(R).as_rotvec()))


def _bundle(x: Array, views: Sequence[BoardView], points: Array, center: Array) -> Array:
    return least_squares(_residuals, x, args=(views, points, center), loss="soft_l1", x_scale="jac").x


def _leave_one_out(x: Array, views: Sequence[BoardView], points: Array, center: Array) -> float:
    """Mean RMS [px] of each view under the bundle of the others."""
    if len(views) <= MIN_VIEWS:
        return float("nan")
    rms = []
    for i, view in enumerate(views):
        others = [v for j, v in enumerate(views) if j != i]
        rms.append(_rms(_bundle(x, others, points, center), [view], points, center))
    return float(np.mean(rms))


def _residuals(x: Array, views: Sequence[BoardView], points: Array, center: Array) -> Array:
    """Differences (V * N * 2,) between predicted and found corners [px]."""
    focal, C_inverse, B = np.exp(x[0]), np.linalg.inv(_matrix(x[1:7])), _matrix(x[7:])
    A = np.stack([view.A for view in views])
    T = C_inverse @ A @ B
    p = points @ T[:, :3, :3].transpose(0, 2, 1) + T[:, None, :3, 3]
    projected = center + focal * p[..., :2] / np.maximum(p[..., 2:], 1e-3)
    return (projected - np.stack([view.corners for view in views])).ravel()


def _rms(x: Array, views: Sequence[BoardView], points: Array, center: Array) -> float:
    """Root mean square of the corners' distances [px]."""
    r = _residuals(x, views, points, center).reshape(-1, 2)
    return float(np.sqrt((r**2).sum(1).mean()))


def _first_board(view: BoardView, points: Array, focal: float, center: Array, C: Array) -> Array:
    """Board pose B that one view suggests."""
    K = np.array([[focal, 0, center[0]], [0, focal, center[1]], [0, 0, 1.0]])
    found, rotation, translation = cv2.solvePnP(points, view.corners, K, None)
    if not found:
        raise CalibrationError("the board's pose cannot be told from the first image")
    T_camera_board = np.eye(4)
    T_camera_board[:3, :3], T_camera_board[:3, 3] = cv2.Rodrigues(rotation)[0], translation.ravel()
    return np.linalg.inv(view.A) @ C @ T_camera_board


def _is_dark_first(grey: Array, grid: Array) -> bool:
    """Whether the square outside the first corner is dark, compared with its neighbour along x."""
    x, y = grid[0, 1] - grid[0, 0], grid[1, 0] - grid[0, 0]
    first, beside = grid[0, 0] - (x + y) / 2, grid[0, 0] + (x - y) / 2
    value = [
        float(grey[tuple(np.clip(p[::-1].round().astype(int), 0, np.array(grey.shape) - 1))]) for p in (first, beside)
    ]
    return value[0] < value[1]


def _vector(T: Array) -> Array:
    return np.concatenate([Rotation.from_matrix(T[:3, :3]).as_rotvec(), T[:3, 3]])


def _matrix(x: Array) -> Array:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = Rotation.from_rotvec(x[:3]).as_matrix(), x[3:]
    return T
