"""The intended motion of a demonstration: minimum-jerk segments in the frames of belt and bin. Pure."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robots.cell.description import CellDescription, ObjectDescription, Side
from robots.demonstrator.style import Style

Array = npt.NDArray[np.float64]
PHASES = ("wait", "reach", "descend", "grasp", "lift", "carry", "lower", "release", "retreat")
MAX_YAW = math.radians(46.0)
CLOSE_EARLY = 0.02
SETTLE = 0.9
MIN_REACH = 1.25


def minimum_jerk(t: float, start: float, end: float) -> float:
    """Ramp from 0 at `start` to 1 at `end`, s^3 (10 - 15 s + 6 s^2)."""
    s = min(max((t - start) / (end - start), 0.0), 1.0)
    return s * s * s * (10.0 - 15.0 * s + 6.0 * s * s)


@dataclass(frozen=True)
class SeenObject:
    """What the demonstrator knows of the task: perceived position of the object's centre [m], yaw [rad], belt speed
    [m/s] towards -y, height of the belt [m]; `description` gives the CAD size."""

    description: ObjectDescription
    position: Array
    yaw: float
    belt_speed: float
    belt_top: float


@dataclass(frozen=True)
class Timing:
    """Start times of the segments [s]; every segment is (start, end)."""

    grasp: float
    reach: tuple[float, float]
    descend: tuple[float, float]
    close: tuple[float, float]
    lift: tuple[float, float]
    carry: tuple[float, float]
    lower: tuple[float, float]
    release: tuple[float, float]
    retreat: tuple[float, float]
    home: tuple[float, float]
    end: float

    def phase_starts(self) -> dict[str, float]:
        """Start of each phase in order; a phase ends where the next one starts."""
        starts = (0.0, self.reach[0], self.descend[0], self.close[0], self.lift[0], self.carry[0], self.lower[0],
                  self.release[0], self.retreat[0])  # fmt: skip
        return dict(zip(PHASES, starts, strict=True))


def plan_timing(seen: SeenObject, style: Style, pick_y: float) -> Timing:
    """Segments around the moment at which the object passes the place where it is met."""
    arrival = (seen.position[1] - (pick_y + style.pick_shift)) / max(seen.belt_speed, 0.01)
    grasp = min(max(arrival, style.reaction + MIN_REACH + style.descend), 12.0)
    descend = (grasp - style.descend, grasp)
    reach = (max(style.reaction, descend[0] - 2.2), descend[0])
    close = (grasp - CLOSE_EARLY, grasp - CLOSE_EARLY + style.close)
    lift0 = close[1] + style.hold
    carry0 = lift0 + 0.18
    lower0 = carry0 + style.carry - 0.12
    release0 = lower0 + style.lower - 0.05
    retreat0 = release0 + style.release - 0.05
    home0 = retreat0 + style.retreat - 0.1
    return Timing(
        grasp=grasp,
        reach=reach,
        descend=descend,
        close=close,
        lift=(lift0, lift0 + style.lift),
        carry=(carry0, carry0 + style.carry),
        lower=(lower0, lower0 + style.lower),
        release=(release0, release0 + style.release),
        retreat=(retreat0, retreat0 + style.retreat),
        home=(home0, home0 + 0.9),
        end=retreat0 + style.retreat + SETTLE,
    )


class Motion:
    """TCP position, yaw and hand closing over time for one pick and place."""

    def __init__(self, cell: CellDescription, seen: SeenObject, bin_side: Side, style: Style) -> None:
        self.cell, self.seen, self.style = cell, seen, style
        self.timing = plan_timing(seen, style, cell.pick_y)
        bin_ = cell.bin(bin_side)
        thing = seen.description
        under = 2 * thing.half_height - thing.grasp_depth  # what hangs below the finger pads
        self._bin = np.array(bin_.center)
        self._bin_yaw = bin_.drop_yaw
        self._z_grasp = seen.belt_top + under
        self._z_travel = max(bin_.height + 0.05 + under, 0.24)
        self._z_release = max(0.045 + under, 0.135)
        self._yaw = grasp_yaw(seen) + style.yaw_error

    def position(self, t: float) -> Array:
        """Intended TCP position, (3,) [m], without tremor."""
        return np.array([*self._horizontal(t), self._height(t)])

    def _horizontal(self, t: float) -> Array:
        T, style, home = self.timing, self.style, np.array(self.cell.home[:2])
        reach, carry = minimum_jerk(t, *T.reach), minimum_jerk(t, *T.carry)
        xy = (1 - reach) * home + reach * (self._follow(t) + self._miss(t))
        xy = xy + math.sin(math.pi * reach) * np.array(style.bow)
        xy = (1 - carry) * xy + carry * self._bin
        back = minimum_jerk(t, *T.home)
        return (1 - back) * xy + back * home

    def _follow(self, t: float) -> Array:
        """Above the object on the belt; during the lift the belt's speed is left behind smoothly."""
        start, v = self.seen.position[:2], np.array([0.0, -self.seen.belt_speed])
        lift0 = self.timing.lift[0]
        leave = minimum_jerk(t, lift0, lift0 + 0.5)
        return start + v * ((1 - leave) * t + leave * (lift0 + 0.25))

    def _miss(self, t: float) -> Array:
        """Error of the first reach and its correction just before the descent ends."""
        if self.style.correction is None:
            return np.zeros(2)
        start = self.timing.reach[1] - 0.30
        return (1 - minimum_jerk(t, start, start + 0.45)) * np.array(self.style.correction)

    def _height(self, t: float) -> float:
        T, style, home = self.timing, self.style, self.cell.home[2]
        reach, carry = minimum_jerk(t, *T.reach), minimum_jerk(t, *T.carry)
        z = (1 - reach) * home + reach * (self._z_grasp + style.hover)
        for segment, target in ((T.descend, self._z_grasp), (T.lift, self._z_travel), (T.lower, self._z_release),
                                (T.retreat, max(self._z_travel, 0.30)), (T.home, home)):  # fmt: skip
            part = minimum_jerk(t, *segment)
            z = (1 - part) * z + part * target
        return z + style.carry_rise * math.sin(math.pi * carry)

    def yaw(self, t: float) -> float:
        """Intended yaw of the grasp frame [rad]."""
        T = self.timing
        reach, carry = minimum_jerk(t, *T.reach), minimum_jerk(t, *T.carry)
        return (reach * self._yaw * (1 - carry) + carry * self._bin_yaw) * (1 - minimum_jerk(t, *T.home))

    def closing(self, t: float) -> float:
        """How far the hand is closed, 0 to 1."""
        return minimum_jerk(t, *self.timing.close) * (1 - minimum_jerk(t, *self.timing.release))


def grasp_yaw(seen: SeenObject) -> float:
    """Yaw of the grasp: 0 for round objects, else across the nearest pair of faces, within 46 deg of straight."""
    if seen.description.is_round:
        return 0.0
    quarter = math.pi / 2
    folded = (seen.yaw + quarter / 2) % quarter - quarter / 2
    return max(-MAX_YAW, min(MAX_YAW, folded))
