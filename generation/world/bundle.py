"""The bundle behind a camera's calibration: lens, camera pose and board pose together, from corners and joints. Pure.

With the camera on the wrist and the board standing in the world, A = T_wrist_world; with the camera standing and the
board fixed to the hand, A = T_world_wrist. Then

    u = pi(f, k, C^-1 A_i B X),    C = T_parent_camera,  B = pose of the board,

with unknown focal length f, a fisheye's distortion k, C and B; every image's arm pose comes from the measured joints.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import cv2
import numpy as np
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from generation.arrays import Array
from robots.cell.lens import Distortion, project, tangents

CORNER_NOISE_PX = 0.1
DISTORTION_SPREAD = np.array([0.05, 0.02, 0.01, 0.005])  # of k1..k4 about the described ones


class CalibrationError(RuntimeError):
    """The images do not calibrate the camera; the message says why."""


class BoardView(NamedTuple):
    """One image in which the board was found."""

    corners: Array  # (N, 2) [px], pixel centres at half-integers
    A: Array  # (4, 4), see the module's equation


@dataclass(frozen=True)
class Solution:
    """Unknowns of the bundle: focal length [px], C and B (4, 4), and k (4,), None for a pinhole."""

    focal: float
    C: Array
    B: Array
    k: Array | None

    def vector(self) -> Array:
        """As the solver sees it, (13,) or (17,)."""
        return np.concatenate(
            [[np.log(self.focal)], _vector(self.C), _vector(self.B), [] if self.k is None else self.k]
        )

    @classmethod
    def of(cls, x: Array) -> "Solution":
        """The inverse of `vector`."""
        return cls(float(np.exp(x[0])), _matrix(x[1:7]), _matrix(x[7:13]), x[13:] if len(x) > 13 else None)


@dataclass(frozen=True)
class Bundle:
    """Views of one board by one camera.

    Attributes:
        points: corners (N, 3) in the board's frame [m]. center: principal point (2,) [px].
        described: k1..k4 the lens is described with, from which a few corners at the rim must not lead far away.
    """

    views: tuple[BoardView, ...]
    points: Array
    center: Array
    described: Distortion

    @cached_property
    def _stacked(self) -> tuple[Array, Array]:
        return np.stack([view.A for view in self.views]), np.stack([view.corners for view in self.views])

    def first_guess(self, focal: float, C: Array, k: Array | None) -> Solution:
        """The described camera, with the board where the first view alone suggests it.

        Raises:
            CalibrationError: it suggests nothing, or the lens shows no ray where a corner is.
        """
        view = self.views[0]
        rays = tangents(view.corners, focal, self.center, k)
        if not np.isfinite(rays).all():
            raise CalibrationError("the described lens sees nothing where the first image shows corners")
        found, rotation, translation = cv2.solvePnP(self.points, rays, np.eye(3), None)
        if not found or not np.isfinite(translation).all():
            raise CalibrationError("the board's pose cannot be told from the first image")
        T_camera_board = np.eye(4)
        T_camera_board[:3, :3], T_camera_board[:3, 3] = cv2.Rodrigues(rotation)[0], translation.ravel()
        return Solution(focal, C, np.linalg.inv(view.A) @ C @ T_camera_board, k)

    def place_board(self, start: Solution) -> Solution:
        """Only the board's pose fitted, the camera left as it is."""
        x = start.vector()

        def of(board: Array) -> Array:
            return np.concatenate([x[:7], board, x[13:]])

        return Solution.of(of(least_squares(lambda b: self._residuals(of(b)).ravel(), x[7:13], loss="soft_l1").x))

    def solve(self, start: Solution) -> Solution:
        """Everything fitted."""
        return Solution.of(least_squares(self._cost, start.vector(), loss="soft_l1", x_scale="jac").x)

    def rms(self, solution: Solution) -> float:
        """Root mean square of the corners' distances [px]."""
        return float(np.sqrt((self._residuals(solution.vector()) ** 2).sum(-1).mean()))

    def leave_one_out(self, solution: Solution) -> float:
        """Mean RMS [px] of each view under the bundle of the others, from robot poses alone."""
        rms = []
        for i, view in enumerate(self.views):
            others = self._with([v for j, v in enumerate(self.views) if j != i])
            rms.append(self._with([view]).rms(others.solve(solution)))
        return float(np.mean(rms))

    def _with(self, views: Sequence[BoardView]) -> "Bundle":
        return Bundle(tuple(views), self.points, self.center, self.described)

    def _residuals(self, x: Array) -> Array:
        """Differences (V, N, 2) between predicted and found corners [px]."""
        solution = Solution.of(x)
        A, corners = self._stacked
        T = np.linalg.inv(solution.C) @ A @ solution.B
        p = self.points @ T[:, :3, :3].transpose(0, 2, 1) + T[:, None, :3, 3]
        return project(p, solution.focal, self.center, solution.k) - corners

    def _cost(self, x: Array) -> Array:
        """Residuals, and k's distances from the described ones in the same unit."""
        prior = CORNER_NOISE_PX * (x[13:] - self.described[: len(x) - 13]) / DISTORTION_SPREAD[: len(x) - 13]
        return np.concatenate([self._residuals(x).ravel(), prior])


def _vector(T: Array) -> Array:
    return np.concatenate([Rotation.from_matrix(T[:3, :3]).as_rotvec(), T[:3, 3]])


def _matrix(x: Array) -> Array:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = Rotation.from_rotvec(x[:3]).as_matrix(), x[3:]
    return T
