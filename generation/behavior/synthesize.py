"""Ungrounded behavior: no human reference. A sampled grasp and a planned, collision-checked route.

Straight lines with trapezoidal speed, a two-finger pinch, no tremor: how a planner moves, not how a person does. The
grasp comes from `grasps`; the route is approach -> interception (in the belt's frame) -> lift -> carry -> release;
where the hand or the carried object would come too near to a wall, the carry is raised.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from generation.arrays import Array
from generation.behavior.grasps import Grasp, propose
from generation.behavior.obstacles import HandSpheres, Surroundings
from generation.behavior.plan import Phase, ToolPlan, tool_rotation
from generation.behavior.task import PickTask
from robots.cell import handshapes
from robots.cell.description import CONTROL_DT, CellDescription
from robots.cell.world import WorldParameters

CLEARANCE = 0.004  # m kept from belt, bins and floor
RAISES = 3  # times the carry is raised by RAISE before the route is given up
RAISE = 0.03
PINCH_PRESS = 1.3  # squeeze beyond touching


class Style(NamedTuple):
    """Which fingers meet the thumb.

    Attributes:
        idle: joints of the fingers that stay open. shift: of the grasp's middle along the tool's y axis [m].
    """

    idle: slice
    shift: float


PINCH = Style(slice(8, 20), 0.014)  # thumb and index
TRIPOD = Style(slice(12, 20), 0.004)  # thumb, index and middle: a ball rolls out of a pinch


class BlockedError(ValueError):
    """Every route found leads through something."""


@dataclass(frozen=True)
class Schedule:
    """Ends of the route's pieces [s]: each begins where the one before ends."""

    approach: float
    descend: float
    close: float
    lift: float
    carry: float
    lower: float
    open: float
    retreat: float
    home: float

    @classmethod
    def sample(cls, close_time: float, rng: np.random.Generator) -> "Schedule":
        """Durations of a planner that keeps its speed limits, varied by a tenth."""
        durations = np.array([0.35, 0.55, 1.35, 0.45, 0.25, 0.55, 0.9]) * rng.uniform(0.9, 1.1, 7)
        ends = close_time + np.cumsum(durations)
        return cls(close_time - 0.5, close_time, *ends.tolist())


@dataclass(frozen=True)
class Synthesizer:
    """Plans in one world."""

    home: Array  # (3,) TCP position at the start [m]
    hand: HandSpheres
    surroundings: Surroundings

    @classmethod
    def of(cls, cell: CellDescription, world: WorldParameters) -> "Synthesizer":
        """Planner for `cell` as `world` has it."""
        return cls(np.array(cell.home), HandSpheres.of(cell, world), Surroundings.of(cell, world))

    def plan(self, task: PickTask, rng: np.random.Generator) -> ToolPlan:
        """A grasp and a free route to it and on to the bin.

        Raises:
            NoGraspError: nothing fits the hand. BlockedError: no free route.
            ValueError: the object never comes within reach.
        """
        schedule = Schedule.sample(task.close_time(rng.uniform(1.7, 2.3)), rng)
        grasp = propose(task.object, task.yaw, rng)
        low, high = 0.20 + rng.uniform(0, 0.03), task.bin_height + 0.04
        carry = max(low, high + _below(task, grasp))
        for _ in range(RAISES + 1):
            plan = _route(self.home, task, grasp, schedule, carry)
            if self._is_free(plan, task, grasp):
                return plan
            carry += RAISE
        raise BlockedError(f"no free route to the {task.side} bin up to a carry height of {carry:.2f} m")

    def _is_free(self, plan: ToolPlan, task: PickTask, grasp: Grasp) -> bool:
        rows = slice(None, None, 4)
        hand = self.hand.along(plan.position[rows], plan.rotation[rows])
        if self.surroundings.clearance(hand, self.hand.radii).min() < CLEARANCE:
            return False
        carried = plan.phases[rows] == Phase.CARRY
        bottom = plan.position[rows][carried] - [0, 0, _below(task, grasp)]
        radius = np.array([max(task.object.size[:-1], default=task.object.size[0])])
        return bool(self.surroundings.clearance(bottom[:, None] + [0, 0, radius[0]], radius).min() > 0)


def trapezoid(t: Array, start: float, end: float, ramp: float = 0.25) -> Array:
    """0 to 1 between start and end with trapezoidal speed; `ramp` is the share of the time spent speeding up."""
    s = np.clip((t - start) / max(end - start, CONTROL_DT), 0.0, 1.0)
    top = 1 / (1 - ramp)
    return np.where(
        s < ramp,
        top * s**2 / (2 * ramp),
        np.where(s > 1 - ramp, 1 - top * (1 - s) ** 2 / (2 * ramp), top * (s - ramp / 2)),
    )


def _below(task: PickTask, grasp: Grasp) -> float:
    """How far the carried object reaches below the pads [m]."""
    return 2 * task.object.half_height - grasp.depth


def _route(home: Array, task: PickTask, grasp: Grasp, when: Schedule, carry_height: float) -> ToolPlan:
    t = np.arange(round(when.home / CONTROL_DT) + 1) * CONTROL_DT
    yaw = task.yaw + grasp.yaw
    come, over = trapezoid(t, 0.0, when.approach), trapezoid(t, when.lift - 0.1, when.carry)
    back = trapezoid(t, when.retreat, when.home)
    heading = come * (1 - over) * yaw + over * task.bin_yaw * (1 - back)
    target = _grasp_point(task, grasp, t, when.close)
    above = target[:, 2] + 0.10 * (1 - trapezoid(t, when.approach, when.descend))
    place = max(0.045 + _below(task, grasp), 0.135)
    xy = _mix(_mix(_mix(home[:2], target[:, :2], come), task.bin_center, over), home[:2], back)
    z = (1 - come) * home[2] + come * above
    z = _mix(z, carry_height, trapezoid(t, when.close, when.lift))
    z = _mix(z, place, trapezoid(t, when.carry, when.lower))
    z = _mix(z, max(carry_height, 0.30), trapezoid(t, when.open, when.retreat))
    z = _mix(z, home[2], back)
    style = TRIPOD if task.object.shape == "ball" else PINCH
    position = np.concatenate([xy, z[:, None]], 1) - style.shift * tool_rotation(heading)[:, :, 1]
    starts = [when.descend, when.close, when.lift, when.lower, when.open]
    return ToolPlan(
        position=position,
        rotation=tool_rotation(heading),
        hand=_fingers(t, grasp, style, when),
        phases=np.searchsorted(starts, t, side="right").astype(np.int8),
        source={"grasp_yaw": round(grasp.yaw, 4), "grasp_depth": round(grasp.depth, 4)},
    )


def _grasp_point(task: PickTask, grasp: Grasp, t: Array, close: float) -> Array:
    """Where the pads' middle belongs (T, 3): riding with the object until the lift, stopped within 0.4 s after it."""
    slow = np.clip((t - close) / 0.4, 0, 1)
    ridden = np.minimum(t, close) + 0.4 * (slow - slow**2 / 2)
    c, s = np.cos(task.yaw), np.sin(task.yaw)
    offset = np.array([[c, -s], [s, c]]) @ grasp.offset
    return task.top_center(ridden) + np.array([*offset, -grasp.depth])


def _fingers(t: Array, grasp: Grasp, style: Style, when: Schedule) -> Array:
    """Hand joints (T, 20): the style's fingers close to the chord's width and press; the others stay open."""
    touching = (0.055 - grasp.width) / 0.035
    closed = handshapes.closed(touching + PINCH_PRESS)
    closed[style.idle] = handshapes.OPEN[style.idle]
    amount = np.clip((t - when.descend) / (when.close - when.descend - 0.05), 0, 1)
    amount = np.minimum(amount, 1 - np.clip((t - when.lower) / (when.open - when.lower), 0, 1))
    return handshapes.OPEN + amount[:, None] * (closed - handshapes.OPEN)


def _mix(a: Array | float, b: Array | float, weight: Array) -> Array:
    a, b = np.asarray(a), np.asarray(b)
    w = weight.reshape(-1, *[1] * (max(a.ndim, b.ndim) - 1)) if max(a.ndim, b.ndim) > 1 or a.shape == (2,) else weight
    return (1 - w) * a + w * b
