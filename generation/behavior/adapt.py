"""Grounded behavior: a demonstration's motion, moved to another object pose, belt speed and bin.

Every time step of the demonstration is expressed in the frame it refers to: the *moving* object's (a frame that rides
on the belt) while the hand comes, closes and lifts, the bin's while it places, the cell's at home. The recorded motion
in that frame, with its timing and tremor, is then laid over the new scene:

    p'(t) = sum over frames F of w_F(s) * (Rz(dpsi_F) (p(s) - F(s)) + F'(t)),     s = warp(t)

with smooth weights that sum to one. The idea (transform demonstration segments into new scenes) is published as
MimicGen; freezing the object's pose at a segment's start, as there, would miss a riding object.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from generation.arrays import Array
from generation.behavior.demonstration import Demonstration, closure
from generation.behavior.kinematics import rotation_z
from generation.behavior.plan import Phase, ToolPlan, min_jerk, sample_rotations, sample_rows, tool_yaw
from generation.behavior.task import PickTask, nearest_turn, symmetry
from robots.cell.description import CONTROL_DT

HAND_OVER = 0.5  # s in which the belt's frame comes to a stop after the lift begins
WAY_HOME = 1.5  # s from the open hand back to the cell's frame; recordings mostly end on the way
SLOWEST, FASTEST = 0.6, 1.7  # limits of how much slower or faster an approach may be replayed
NEIGHBOURS = 3  # sources drawn from, nearest first


@dataclass(frozen=True)
class _Warp:
    """New time to demonstration time: the approach is stretched, everything after the closing keeps its pace."""

    source: float  # s, closing in the demonstration
    target: float  # s, closing in the new scene

    @property
    def stretch(self) -> float:
        return self.target / self.source

    def __call__(self, t: Array) -> Array:
        return np.where(t < self.target, t / self.stretch, t - self.target + self.source)


def select_source(demonstrations: Sequence[Demonstration], task: PickTask, rng: np.random.Generator) -> Demonstration:
    """One of the nearest demonstrations: same object and bin first, then alike in timing, heading and size.

    Raises:
        ValueError: there are none.
    """
    if not demonstrations:
        raise ValueError("there is no demonstration to adapt")
    ranked = sorted(demonstrations, key=lambda demo: _distance(demo, task))
    alike = [demo for demo in ranked[:NEIGHBOURS] if demo.task.object == ranked[0].task.object]
    return alike[int(rng.integers(len(alike)))]


def adapt(demo: Demonstration, task: PickTask) -> ToolPlan:
    """The demonstration's motion in the new scene.

    Raises:
        ValueError: the new object passes the reach too early or too late for this motion.
    """
    warp = _Warp(demo.close_time, task.close_time(demo.close_time))
    if not SLOWEST <= warp.stretch <= FASTEST:
        raise ValueError(f"the approach would have to be replayed {warp.stretch:.2f} times as long")
    last = (len(demo.position) - 1) * CONTROL_DT - warp.source + warp.target
    t = np.arange(round(last / CONTROL_DT) + 1) * CONTROL_DT
    s = warp(t)
    rows = s / CONTROL_DT
    p, R = sample_rows(demo.position, rows), sample_rotations(demo.rotation, rows)
    on_belt, in_bin = _weights(demo, s)
    turn, bin_turn = _turns(demo, task)
    old, new = _belt_frames(demo, task, s, t)
    shift = on_belt[:, None] * (_turned(p - old, turn) + new - p)
    shift += in_bin[:, None] * (_turned(p - _bin(demo.task), bin_turn) + _bin(task) - p)
    return ToolPlan(
        position=p + shift,
        rotation=rotation_z(on_belt * turn + in_bin * bin_turn) @ R,
        hand=_resized(sample_rows(demo.hand, rows), demo, task),
        phases=_phases(demo, rows),
        source={"source_demonstration": demo.name, "approach_stretch": round(warp.stretch, 4)},
    )


def _distance(demo: Demonstration, task: PickTask) -> float:
    """How unlike the demonstration's scene the new one is; object and bin outweigh the rest."""
    other_object = demo.task.object.name != task.object.name
    size = np.abs(_width(demo.task) - _width(task)) / 0.01 if other_object else 0.0
    late = abs(math.log(max(_reachable_close(demo, task), 0.1) / demo.close_time))
    turn, _ = _turns(demo, task)
    pace = abs(demo.task.belt_speed - task.belt_speed) / 0.1
    return 100 * other_object + size + 10 * (demo.task.side != task.side) + 3 * late + abs(turn) + 0.5 * pace


def _reachable_close(demo: Demonstration, task: PickTask) -> float:
    try:
        return task.close_time(demo.close_time)
    except ValueError:
        return 0.0


def _weights(demo: Demonstration, s: Array) -> tuple[Array, Array]:
    """Weights (T,) of the belt's and the bin's frame at demonstration times s; the rest is the cell's frame."""
    seg = demo.segments
    close, lift, lower, retreat = (k * CONTROL_DT for k in (seg.close, seg.lift, seg.lower, seg.retreat))
    come = min_jerk(s, 0.1 * close, close - min(0.55, 0.3 * close))
    over = min_jerk(s, min(lift + 0.2, lower - 0.3), lower)
    leave = min_jerk(s, retreat + 0.1, retreat + 0.1 + WAY_HOME)
    return come * (1 - over), over * (1 - leave)


def _turns(demo: Demonstration, task: PickTask) -> tuple[float, float]:
    """How far the hand turns about the vertical to meet the new object, and over the new bin [rad].

    Of the headings at which the object looks the same, the one that keeps the hand's own heading smallest is taken.
    """
    at_grasp = float(tool_yaw(demo.rotation[demo.segments.close]))
    period = symmetry(task.object)
    turn = nearest_turn(at_grasp + task.yaw - demo.task.yaw, period) - at_grasp if period else 0.0
    return turn, task.bin_yaw - demo.task.bin_yaw


def _belt_frames(demo: Demonstration, task: PickTask, s: Array, t: Array) -> tuple[Array, Array]:
    """Top centres of the recorded and of the new object (T, 3): riding until the lift, then slowing to a stop."""
    lift = demo.segments.lift * CONTROL_DT
    new_lift = lift + (t[-1] - s[-1])
    return demo.task.top_center(_ride(s, lift)), task.top_center(_ride(t, new_lift))


def _ride(t: Array, lift: float) -> Array:
    """Time spent riding (T,): t until the lift, then its rate falls smoothly to zero within HAND_OVER."""
    rate = 1 - min_jerk(t, lift, lift + HAND_OVER)
    steps = np.diff(t, prepend=t[0])
    return t[0] + np.cumsum(rate * steps)


def _bin(task: PickTask) -> Array:
    return np.array([*task.bin_center, task.object.half_height])


def _turned(v: Array, angle: float) -> Array:
    return v @ rotation_z(np.array(angle)).T


def _width(task: PickTask) -> float:
    return 2 * min(task.object.size[: 2 if task.object.shape == "box" else 1])


def _resized(hand: Array, demo: Demonstration, task: PickTask) -> Array:
    """Closed shapes opened or closed further along the demonstrated line, by the objects' difference in width."""
    change = _width(task) - _width(demo.task)
    if abs(change) < 1e-4:
        return hand
    start = demo.hand[:5].mean(0)
    amount = closure(demo.hand)
    line = demo.hand[int(np.argmax(amount))] - start
    closed = np.clip((hand - start) @ line / (line @ line), 0, 1)[:, None]
    return hand - closed * line * change / 0.095


def _phases(demo: Demonstration, rows: Array) -> NDArray[np.int8]:
    seg = demo.segments
    starts = [seg.close, seg.lift, seg.lift + round(0.4 / CONTROL_DT), seg.open, seg.retreat]
    return np.searchsorted(starts, rows, side="right").astype(np.int8).clip(0, int(Phase.RETREAT))
