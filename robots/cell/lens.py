"""Where a pinhole or a fisheye shows a point. Pure.

The fisheye is Kannala and Brandt's in OpenCV's convention: a ray at the angle theta from the optical axis meets the
image at theta_d = theta (1 + k1 theta^2 + k2 theta^4 + k3 theta^6 + k4 theta^8) focal lengths from its centre. Camera
coordinates have OpenCV axes (x right, y down, z forward); pixel centres are at half-integers.
"""

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Distortion = tuple[float, float, float, float]
_ANGLES = np.linspace(0.0, np.pi, 2049)
_NEWTON_STEPS = 3
_NEAREST = 1e-3  # a pinhole's points nearer than this, or behind it, count as this far ahead [m]


def bent(theta: Array, k: npt.ArrayLike) -> Array:
    """theta_d of the angles theta [rad], with k = (k1, k2, k3, k4); same shape as theta."""
    k1, k2, k3, k4 = np.asarray(k, float)
    t2 = np.square(theta)
    return np.asarray(theta * (1 + t2 * (k1 + t2 * (k2 + t2 * (k3 + t2 * k4)))))


def straightened(theta_d: Array, k: npt.ArrayLike) -> Array:
    """Angle theta [rad] whose theta_d it is: the inverse of `bent`; NaN outside the lens's image circle.

    The image circle ends where theta_d stops growing with theta, at pi at the latest.
    """
    grid = bent(_ANGLES, k)
    falls = np.flatnonzero(np.diff(grid) <= 0)
    end = int(falls[0]) + 1 if falls.size else len(grid)
    theta = np.interp(theta_d, grid[:end], _ANGLES[:end], right=np.nan)
    k1, k2, k3, k4 = np.asarray(k, float)
    for _ in range(_NEWTON_STEPS):
        t2 = np.square(theta)
        slope = 1 + t2 * (3 * k1 + t2 * (5 * k2 + t2 * (7 * k3 + t2 * 9 * k4)))
        theta = theta - (bent(theta, k) - theta_d) / np.maximum(slope, 1e-2)
    return np.asarray(theta)


def project(points: Array, focal: float, center: Array, k: npt.ArrayLike | None) -> Array:
    """Pixels (..., 2) of points (..., 3) in camera coordinates; k is None for a pinhole."""
    if k is None:
        return np.asarray(center + focal * points[..., :2] / np.maximum(points[..., 2:], _NEAREST))
    radius = np.hypot(points[..., 0], points[..., 1])
    theta_d = bent(np.arctan2(radius, points[..., 2]), k)
    scale = theta_d / np.maximum(radius, 1e-12)
    return np.asarray(center + focal * scale[..., None] * points[..., :2])


def tangents(pixels: Array, focal: float, center: Array, k: npt.ArrayLike | None) -> Array:
    """(x / z, y / z) of the rays that pixels (..., 2) show, (..., 2); NaN where a ray does not point forward."""
    offset = (pixels - center) / focal
    if k is None:
        return np.asarray(offset)
    theta_d = np.hypot(offset[..., 0], offset[..., 1])
    theta = straightened(theta_d, k)
    forward = np.where(theta < np.pi / 2, theta, np.nan)
    scale = np.tan(forward) / np.maximum(theta_d, 1e-12)
    return np.asarray(scale[..., None] * offset)
