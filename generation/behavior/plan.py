"""What a behavior wants from the robot: tool poses and hand targets over time, before any controller is involved."""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation, Slerp

from generation.arrays import Array
from robots.cell.description import CONTROL_DT


class Phase(IntEnum):
    """What a tick of a plan is for."""

    APPROACH = 0
    GRASP = 1
    LIFT = 2
    CARRY = 3
    RELEASE = 4
    RETREAT = 5


@dataclass(frozen=True)
class ToolPlan:
    """Wanted motion; row k is for time k * CONTROL_DT after the start.

    Attributes:
        position: TCP position (T, 3) [m]. rotation: TCP rotation (T, 3, 3).
        hand: targets of the right hand's joints (T, 20) [rad].
        phases: (T,) of Phase.
        source: facts for the lineage columns of the episode.
    """

    position: Array
    rotation: Array
    hand: Array
    phases: NDArray[np.int8]
    source: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.position)

    def padded(self, length: int) -> "ToolPlan":
        """The same plan, its last row held until `length` rows are there."""
        rows = np.minimum(np.arange(length), len(self) - 1)
        return ToolPlan(self.position[rows], self.rotation[rows], self.hand[rows], self.phases[rows], self.source)


def min_jerk(t: Array, start: float, end: float) -> Array:
    """Minimum-jerk ramp from 0 at `start` to 1 at `end`: s^3 (10 - 15 s + 6 s^2)."""
    s = np.clip((t - start) / max(end - start, CONTROL_DT), 0.0, 1.0)
    return s**3 * (10 - 15 * s + 6 * s**2)


def sample_rows(values: Array, rows: Array) -> Array:
    """Linear interpolation of values (T, ...) at fractional rows, clamped to the ends."""
    rows = np.clip(rows, 0, len(values) - 1)
    low = np.minimum(rows.astype(int), len(values) - 2)
    w = (rows - low).reshape(-1, *[1] * (values.ndim - 1))
    return (1 - w) * values[low] + w * values[low + 1]


def sample_rotations(rotations: Array, rows: Array) -> Array:
    """Shortest-arc interpolation of rotations (T, 3, 3) at fractional rows, clamped to the ends."""
    slerp = Slerp(np.arange(len(rotations)), Rotation.from_matrix(rotations))
    return slerp(np.clip(rows, 0, len(rotations) - 1)).as_matrix()


def tool_rotation(yaw: Array | float) -> Array:
    """TCP rotations (..., 3, 3) of a hand that points down; yaw 0 closes the fingers along -x [rad]."""
    c, s = np.cos(yaw), np.sin(yaw)
    zero, one = np.zeros_like(c), np.ones_like(c)
    return np.stack([-c, -s, zero, -s, c, zero, zero, zero, -one], -1).reshape(*np.shape(c), 3, 3).swapaxes(-1, -2)


def tool_yaw(rotation: Array) -> Array:
    """Yaw (...) [rad] of TCP rotations (..., 3, 3): the inverse of `tool_rotation` up to tilt."""
    return np.arctan2(-rotation[..., 1, 0], -rotation[..., 0, 0])
