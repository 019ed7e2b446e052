"""Grasp proposals for a downward hand: antipodal pairs on horizontal slices of the object, scored.

The hand closes in a horizontal plane, so a grasp is a chord of a slice of the object: a random point of the slice's
outline, the ray into the object within the friction cone, and the point where it leaves. Chords that both ends'
friction cones contain and that fit between the pads are scored by friction margin, distance from the centre of mass,
depth and heading, and one of the best is drawn.
"""

import math
from typing import NamedTuple

import numpy as np

from generation.arrays import Array
from robots.cell.description import ObjectDescription

FRICTION_ANGLE = math.atan(0.7)
WIDEST, NARROWEST = 0.070, 0.020  # m that fit between the pads
SHALLOWEST, DEEPEST = 0.012, 0.026  # m below the top: pads on the object, room above for the proximal links
BEST = 6  # proposals drawn from


class Grasp(NamedTuple):
    """Where the pads meet the object, in the object's frame."""

    offset: Array  # (2,) middle of the chord from the object's centre [m]
    depth: float  # below the object's top [m]
    yaw: float  # heading of the closing direction [rad]
    width: float  # length of the chord [m]
    score: float


class NoGraspError(ValueError):
    """No chord of the object fits the hand."""


def propose(obj: ObjectDescription, heading: float, rng: np.random.Generator, samples: int = 64) -> Grasp:
    """Draw one of the best grasps of an object that stands with `heading` [rad].

    Raises:
        NoGraspError: nothing sampled fits the hand.
    """
    chords = [chord for _ in range(samples) if (chord := _sample(obj, heading, rng)) is not None]
    if not chords:
        raise NoGraspError(f"no antipodal grasp of {obj.name} fits between the pads ({NARROWEST}..{WIDEST} m)")
    chords.sort(key=lambda grasp: -grasp.score)
    return chords[int(rng.integers(min(BEST, len(chords))))]


def _sample(obj: ObjectDescription, heading: float, rng: np.random.Generator) -> Grasp | None:
    depth = float(rng.uniform(SHALLOWEST, min(DEEPEST, 2 * obj.half_height - 0.018)))
    if obj.shape == "box":
        start, normal = _box_side(obj, rng)
        slope = 0.0
    else:
        angle = rng.uniform(-math.pi, math.pi)
        normal = np.array([math.cos(angle), math.sin(angle)])
        radius, slope = _slice(obj, depth)
        start = radius * normal
    direction = _turned(-normal, rng.normal(0, 0.15))
    end, exit_normal = _exit(obj, start, direction, depth)
    width = float(np.linalg.norm(end - start))
    tilt = max(_angle(direction, -normal), _angle(direction, exit_normal))
    steepest = math.hypot(tilt, slope)
    if steepest > FRICTION_ANGLE or not NARROWEST <= width <= WIDEST:
        return None
    yaw = _comfortable(math.atan2(-direction[1], -direction[0]) + heading) - heading
    offset = (start + end) / 2
    score = -steepest / FRICTION_ANGLE - float(np.linalg.norm(offset)) / 0.02 - abs(depth - obj.grasp_depth) / 0.01
    return Grasp(offset, depth, yaw, width, score - abs(yaw + heading) / 0.8)


def _slice(obj: ObjectDescription, depth: float) -> tuple[float, float]:
    """Radius of a round object's slice [m] and the slope of its side there [rad]."""
    if obj.shape == "cylinder":
        return obj.size[0], 0.0
    above = obj.size[0] - depth
    return math.sqrt(max(obj.size[0] ** 2 - above**2, 1e-8)), abs(math.asin(np.clip(above / obj.size[0], -1, 1)))


def _box_side(obj: ObjectDescription, rng: np.random.Generator) -> tuple[Array, Array]:
    """A point on one of the four sides and its outward normal."""
    axis, sign = int(rng.integers(2)), float(rng.choice([-1.0, 1.0]))
    point, normal = np.zeros(2), np.zeros(2)
    point[axis], normal[axis] = sign * obj.size[axis], sign
    point[1 - axis] = rng.uniform(-0.6, 0.6) * obj.size[1 - axis]
    return point, normal


def _exit(obj: ObjectDescription, start: Array, direction: Array, depth: float) -> tuple[Array, Array]:
    """Where a ray leaves the slice, and the outward normal there."""
    if obj.shape != "box":
        end = start - 2 * (start @ direction) * direction
        return end, end / max(float(np.linalg.norm(end)), 1e-9)
    half = np.array(obj.size[:2])
    with np.errstate(divide="ignore"):
        reach = (np.sign(direction) * half - start) / np.where(direction == 0, 1e-12, direction)
    axis = int(np.argmin(reach))
    normal = np.zeros(2)
    normal[axis] = np.sign(direction[axis])
    return start + reach[axis] * direction, normal


def _comfortable(yaw: float) -> float:
    """The heading at most a quarter turn from zero: fingers and thumb may swap sides of a chord."""
    return math.remainder(yaw, math.pi)


def _turned(v: Array, angle: float) -> Array:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([c * v[0] - s * v[1], s * v[0] + c * v[1]])


def _angle(a: Array, b: Array) -> float:
    return math.acos(float(np.clip(a @ b, -1, 1)))
