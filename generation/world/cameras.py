"""Calibrate a pinhole or a fisheye camera from a checkerboard, with the robot's kinematics in one bundle.

Both lenses are fitted to the same corners, so that the report says which one the camera has.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.spatial.transform import Rotation

from generation.arrays import Array
from generation.world.bundle import BoardView, Bundle, CalibrationError, Solution
from robots.cell.lens import Distortion, straightened

MIN_VIEWS = 3
WORST_RMS_PX = 2.0
AS_GOOD = 1.5  # a fisheye with free k imitates a pinhole: it is one only where the pinhole fits this much worse
EQUIDISTANT: Distortion = (0.0, 0.0, 0.0, 0.0)
Lens = Literal["pinhole", "fisheye"]


@dataclass(frozen=True)
class CameraStart:
    """A described camera: image `size` (width, height) [px], focal length [px], pose C (4, 4), k1..k4 of a fisheye."""

    size: tuple[int, int]
    focal_px: float
    C: Array
    distortion: Distortion | None = None

    @property
    def lens(self) -> Lens:
        """What it is described as."""
        return "pinhole" if self.distortion is None else "fisheye"


@dataclass(frozen=True)
class CameraFit:
    """A calibrated camera.

    Attributes:
        lens: `pinhole` or `fisheye`, whichever fits. focal_px: of the image the corners come from.
        distortion: k (4,) of a fisheye. T_parent_camera: (4, 4). T_board: B, (4, 4).
        rms_px: over all corners. leave_one_out_px: mean RMS of views predicted without them, from robot poses alone.
        nominal_px: RMS with lens and pose as described. other_lens_px: RMS of the other lens, fitted to the same views.
        found, images: views with a board, and in all.
    """

    lens: Lens
    focal_px: float
    distortion: Array | None
    T_parent_camera: Array
    T_board: Array
    rms_px: float
    leave_one_out_px: float
    nominal_px: float
    other_lens_px: float
    found: int
    images: int


def calibrate(views: Sequence[BoardView], points: Array, start: CameraStart, images: int) -> CameraFit:
    """Bundle over all views from the described camera.

    Args:
        points: corners (N, 3) in the board's frame [m]. images: how many were taken, for the report.

    Raises:
        CalibrationError: under 3 views, an RMS above 2 px, a distortion that was not found, or the other lens fits.
    """
    if len(views) < MIN_VIEWS:
        raise CalibrationError(
            f"the board was found in {len(views)} of {images} images; at least {MIN_VIEWS} are needed"
        )
    bundle = Bundle(tuple(views), points, np.array(start.size) / 2, start.distortion or EQUIDISTANT)
    k = None if start.distortion is None else np.array(start.distortion)
    described = bundle.place_board(bundle.first_guess(start.focal_px, start.C, k))
    fit = bundle.solve(described)
    rms, other = bundle.rms(fit), _other_lens(bundle, start)
    _check_lens(start.lens, rms, other)
    _check_rms(rms)
    _check_distortion(fit, described, start.size)
    return CameraFit(
        lens=start.lens,
        focal_px=fit.focal,
        distortion=fit.k,
        T_parent_camera=fit.C,
        T_board=fit.B,
        rms_px=rms,
        leave_one_out_px=bundle.leave_one_out(fit) if len(views) > MIN_VIEWS else float("nan"),
        nominal_px=bundle.rms(described),
        other_lens_px=other,
        found=len(views),
        images=images,
    )


def rotation_angle(R: Array) -> float:
    """Angle of a rotation matrix [rad]."""
    return float(np.linalg.norm(Rotation.from_matrix(R).as_rotvec()))


def _other_lens(bundle: Bundle, start: CameraStart) -> float:
    """RMS [px] of a pinhole for a camera described as a fisheye, and of a fisheye for a pinhole; inf if impossible."""
    k = np.array(EQUIDISTANT) if start.distortion is None else None
    try:
        guess = bundle.first_guess(start.focal_px, start.C, k)
    except CalibrationError:
        return float("inf")
    return bundle.rms(bundle.solve(bundle.place_board(guess)))


def _check_lens(described: Lens, rms: float, other: float) -> None:
    """Raise where the camera has the other lens; between equals it is the simpler one, the pinhole."""
    pinhole, fisheye = (rms, other) if described == "pinhole" else (other, rms)
    fits: Lens = "pinhole" if pinhole <= AS_GOOD * fisheye else "fisheye"
    if fits != described and other <= WORST_RMS_PX:
        raise CalibrationError(
            f"the camera is described as a {described}, but a {fits} fits it: "
            f"{pinhole:.2f} px as a pinhole, {fisheye:.2f} px as a fisheye"
        )


def _check_rms(rms: float) -> None:
    if not rms <= WORST_RMS_PX:
        raise CalibrationError(f"reprojection RMS is {rms:.2f} px, more than {WORST_RMS_PX} px: the fit is not usable")


def _check_distortion(fit: Solution, described: Solution, size: tuple[int, int]) -> None:
    """Raise where a fisheye's k was not really found: all zero, not moved, or bending back inside the image."""
    if fit.k is None or described.k is None:
        return
    if not fit.k.any() or np.array_equal(fit.k, described.k):
        raise CalibrationError(f"the fisheye's distortion stayed at {fit.k.tolist()}: the views do not show it")
    corner = np.hypot(*size) / 2 / fit.focal
    if np.isnan(straightened(np.array(corner), fit.k)):
        raise CalibrationError(f"the fitted distortion {fit.k.tolist()} bends back before the image's corner")
