"""Belt and object from the points of one RGB-D image. Pure: numpy and scipy only."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from robots.cell.description import CellDescription, ObjectDescription
from robots.cell.world import CameraParameters
from robots.drivers.protocols import CameraFrame
from robots.perception.points import world_points

Array = npt.NDArray[np.float64]
SEARCH_ACROSS = 0.16  # half width of the strip in which belt and object may be [m]
SEARCH_HEIGHT = 0.06
ABOVE_BELT = 0.008
STANDS_BELOW = 0.025
TOP_LAYER = 0.006
MIN_POINTS = 25


class NothingSeenError(RuntimeError):
    """The camera does not show what was looked for."""


@dataclass(frozen=True)
class BeltSighting:
    """Height of the belt's top, its middle and half width across (x) [m]."""

    top: float
    center_x: float
    half_width: float


@dataclass(frozen=True)
class ObjectSighting:
    """Object on the belt: position of its centre in the world (3,) [m], yaw [rad] (0 for round things), belt height."""

    position: Array
    yaw: float
    belt_top: float


def see_belt(points: Array, cell: CellDescription) -> BeltSighting:
    """Belt from the world points (height, width, 3) of one image.

    Its top is the commonest height near the described one; its edges are where that height ends.
    """
    near = _near_belt(points, cell) & (np.abs(points[..., 2] - cell.belt.center[2]) < SEARCH_HEIGHT)
    if near.sum() < 10 * MIN_POINTS:
        raise NothingSeenError("no belt: too few depth points near its described place")
    counts, edges = np.histogram(points[near][:, 2], bins=np.arange(-0.1, 0.3, 0.003))
    rough = edges[counts.argmax()] + 0.0015
    level = near & (np.abs(points[..., 2] - rough) < 0.006)
    labels, _ = ndimage.label(level)  # apart from the rims of the bins, which may be as high
    on_top = points[labels == np.bincount(labels[level]).argmax()]
    left, right = np.percentile(on_top[:, 0], [0.5, 99.5])
    return BeltSighting(float(np.median(on_top[:, 2])), float((left + right) / 2), float((right - left) / 2))


def see_object(
    frame: CameraFrame, cell: CellDescription, thing: ObjectDescription, params: CameraParameters | None = None
) -> ObjectSighting:
    """Pose of a known object on the belt from an image of the external camera.

    Args:
        params: calibration of the external camera; None takes it as described.

    Raises:
        NothingSeenError: no depth in the frame, no belt, or nothing that stands on it.
    """
    if frame.depth is None:
        raise NothingSeenError("this camera gives no depth")
    points = world_points(frame.depth, cell.camera("external"), params or CameraParameters())
    belt = see_belt(points, cell)
    blob = _standing_blob(points, belt, cell)
    if thing.shape == "ball":
        center, yaw = fit_sphere(blob, thing.size[0])[:2], 0.0
    else:
        top = blob[blob[:, 2] > np.percentile(blob[:, 2], 95) - TOP_LAYER][:, :2]
        center, yaw = fit_rectangle(top, thing) if thing.shape == "box" else (_disc_center(top), 0.0)
    return ObjectSighting(np.array([*center, belt.top + thing.half_height]), float(yaw), belt.top)


def _near_belt(points: Array, cell: CellDescription) -> npt.NDArray[np.bool_]:
    across = np.abs(points[..., 0] - cell.belt.center[0]) < SEARCH_ACROSS
    along = np.abs(points[..., 1] - cell.belt.center[1]) < cell.belt.half_length
    return across & along


def _standing_blob(points: Array, belt: BeltSighting, cell: CellDescription) -> Array:
    """Points of the largest connected thing above the belt that reaches down to it; a hand in the air does not."""
    height = points[..., 2] - belt.top
    on_belt = np.abs(points[..., 0] - belt.center_x) < belt.half_width + 0.01
    labels, count = ndimage.label(_near_belt(points, cell) & on_belt & (height > ABOVE_BELT) & (height < 0.25))
    best = np.zeros((0, 3))
    for label in range(1, count + 1):
        mask = labels == label
        if mask.sum() > max(len(best), MIN_POINTS) and height[mask].min() < STANDS_BELOW:
            best = points[mask]
    if not len(best):
        raise NothingSeenError("nothing stands on the belt")
    return best


def _disc_center(xy: Array) -> Array:
    """Middle of a disc that is seen whole: middle between its extreme points in many directions."""
    angles = np.arange(0, np.pi, np.pi / 12)
    normals = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    low, high = np.percentile(xy @ normals.T, [2, 98], axis=0)
    return np.linalg.lstsq(normals, (low + high) / 2, rcond=None)[0]


def fit_rectangle(xy: Array, thing: ObjectDescription) -> tuple[Array, float]:
    """Centre (2,) [m] and yaw [rad] of a box's top face, known up to a turn by its symmetry, from points on it.

    The yaw is that of the smallest rectangle around the points whose longer side is the box's longer one.
    """
    angles = np.radians(np.arange(-90.0, 90.0, 1.0))
    c, s = np.cos(angles), np.sin(angles)
    along = xy[:, :1] * c + xy[:, 1:] * s
    across = -xy[:, :1] * s + xy[:, 1:] * c
    bounds = [np.percentile(v, [0.5, 99.5], axis=0) for v in (along, across)]
    length, width = (hi - lo for lo, hi in bounds)
    area = ndimage.uniform_filter1d(length * width, 5, mode="wrap")
    x_half, y_half = thing.size[:2]
    area[(length - width) * (x_half - y_half) < 0] = np.inf
    best = int(np.argmin(area))
    a, b = (float((lo[best] + hi[best]) / 2) for lo, hi in bounds)
    center = np.array([a * c[best] - b * s[best], a * s[best] + b * c[best]])
    return center, float(angles[best])


def fit_sphere(points: Array, radius: float, iterations: int = 10) -> Array:
    """Centre (3,) [m] of a sphere of known radius from points on its visible side: min sum (|p - c| - r)^2."""
    center = points.mean(axis=0) - np.array([0.0, 0.0, radius / 2])
    for _ in range(iterations):
        away = points - center
        distance = np.linalg.norm(away, axis=1)
        J = -away / distance[:, None]
        center = center - np.linalg.lstsq(J, distance - radius, rcond=None)[0]
    return center
