"""Which attempts become data: the success predicate of the cell, and a reason for every rejection.

Success is judged by physics at the end of the motion (in the assigned bin, released, at rest, held), with the very
predicate that scores trials. `PREDICATE` names its version in every episode's lineage; change it with the rule.
"""

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from generation.arrays import Array
from generation.physics.protocol import Flag, Indices
from robots.cell.description import CellDescription
from robots.cell.initial import InitialState
from robots.cell.judging import COLLISION_FORCE, LIFT_HEIGHT, REST_SPEED, BinBox, SuccessPredicate, bin_box
from robots.cell.scene import Scene, SceneSample
from robots.cell.world import WorldParameters

PREDICATE = "in_bin+released+rest25/1"
HOLD_TICKS = 25
COLLISION_STRIDE = 3  # a collision lasts three ticks (see `judging`), so looking at every third one finds it
SETTLED_TICKS = HOLD_TICKS + 5
LOST_TICKS = 15


class Reason(StrEnum):
    """Where an attempt left the funnel."""

    UNREACHABLE = "unreachable"
    BLOCKED = "collision_planned"
    NO_GRASP = "no_grasp"
    DROPPED = "dropped"
    WRONG_BIN = "wrong_bin"
    NOT_RELEASED = "not_released"
    NOT_AT_REST = "not_at_rest"
    COLLISION = "collision"
    OVERFLOW = "overflow"
    NAN = "nan"


class Judgement(NamedTuple):
    """Verdict on one simulated attempt."""

    reason: Reason | None  # None: accepted
    ticks: int  # rows worth keeping


class TrajectoryJudge:
    """Judges recorded states in a scene of the world they were simulated in."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        model = scene.model
        self._is_hand = np.array([model.body(b).name.startswith("right_hand_") for b in model.geom_bodyid])
        self._is_object = model.geom_bodyid == scene.object_body

    def judge(self, initial: InitialState, qpos: Array, qvel: Array, flag: int) -> Judgement:
        """Verdict on states qpos (K, nq), qvel (K, nv) of an attempt that began at `initial`."""
        last = len(qpos) - 1
        if flag != Flag.OK:
            return Judgement(Reason.NAN if flag == Flag.NAN else Reason.OVERFLOW, last)
        self._scene.reset(initial)
        if self._collides(qpos, qvel):
            return Judgement(Reason.COLLISION, last)
        placed = self._placed_at(initial, qpos, qvel)
        if placed is not None:
            return Judgement(None, placed)
        return Judgement(self._failure(initial, qpos, qvel), last)

    def _sample(self, qpos: Array, qvel: Array) -> SceneSample:
        data = self._scene.data
        data.qpos[:], data.qvel[:] = qpos, qvel
        mujoco.mj_forward(self._scene.model, data)
        return self._scene.sample()

    def _collides(self, qpos: Array, qvel: Array) -> bool:
        """Whether the hand ever presses hard on belt, bin or floor; forces are computed only where it touches one."""
        scene = self._scene
        for k in range(0, len(qpos), COLLISION_STRIDE):
            scene.data.qpos[:] = qpos[k]
            mujoco.mj_kinematics(scene.model, scene.data)
            mujoco.mj_collision(scene.model, scene.data)
            if self._touches_obstacle() and self._sample(qpos[k], qvel[k]).obstacle_force > COLLISION_FORCE:
                return True
        return False

    def _touches_obstacle(self) -> bool:
        pairs = self._scene.data.contact.geom
        return bool((self._is_hand[pairs].any(axis=1) & ~self._is_object[pairs].any(axis=1)).any())

    def _placed_at(self, initial: InitialState, qpos: Array, qvel: Array) -> int | None:
        """The tick at which success has been held long enough, or None."""
        box = bin_box(self._scene.cell, self._scene.world, initial.bin)
        inside = _in_box(box, self._object(qpos))
        slow = np.linalg.norm(self._speed(qvel), axis=1) < REST_SPEED
        candidates = np.flatnonzero(inside & slow)
        predicate, previous = SuccessPredicate(box, HOLD_TICKS), -1
        for k in candidates.tolist():
            if k != previous + 1:
                predicate = SuccessPredicate(box, HOLD_TICKS)
            previous = k
            if predicate.update(self._sample(qpos[k], qvel[k])):
                return k
        return None

    def _failure(self, initial: InitialState, qpos: Array, qvel: Array) -> Reason:
        scene = self._scene
        end = self._sample(qpos[-1], qvel[-1])
        other = bin_box(scene.cell, scene.world, "right" if initial.bin == "left" else "left")
        if bool(_in_box(other, end.object_position[None])[0]):
            return Reason.WRONG_BIN
        rest_height = scene.belt_origin()[2] + scene.cell.object(initial.object).half_height
        lifted = self._object(qpos)[:, 2] > rest_height + LIFT_HEIGHT
        if not lifted.any():
            return Reason.NO_GRASP
        if end.is_touching:
            return Reason.NOT_RELEASED
        in_bin = _in_box(bin_box(scene.cell, scene.world, initial.bin), end.object_position[None])[0]
        return Reason.NOT_AT_REST if in_bin else Reason.DROPPED

    def _object(self, qpos: Array) -> Array:
        a = self._scene.object_qpos
        return qpos[..., a : a + 3]

    def _speed(self, qvel: Array) -> Array:
        a = self._scene.object_dof
        return qvel[..., a : a + 3]


class EarlyStop:
    """Ends simulations whose outcome is settled: the object rests in its bin, or was left behind on the belt.

    Args:
        initials: starts of the n simulations. lifted, released: (n,) ticks at which the object should be in the air
            and the hand be gone from the bin.
    """

    def __init__(self, scene: Scene, initials: list[InitialState], lifted: Indices, released: Indices) -> None:
        cell, world = scene.cell, scene.world
        boxes = [bin_box(cell, world, initial.bin) for initial in initials]
        self._center = np.array([box.center for box in boxes])
        self._half = np.array([box.half_extents for box in boxes])
        self._height = np.array([box.height for box in boxes])
        belt = np.array([_belt_top(cell, world, initial) for initial in initials])
        self._lost_below = belt + [cell.object(i.object).half_height + LIFT_HEIGHT / 2 for i in initials]
        self._lifted, self._released = lifted, released
        self._q, self._v = scene.object_qpos, scene.object_dof
        self._settled, self._lost = np.zeros(len(initials), np.int64), np.zeros(len(initials), np.int64)

    def __call__(self, tick: int, running: Indices, qpos: Array, qvel: Array) -> NDArray[np.bool_]:
        """Marks, (m,), those of the running simulations that are over after `tick` ticks."""
        p, v = qpos[:, self._q : self._q + 3], qvel[:, self._v : self._v + 3]
        over_bin = (np.abs(p[:, :2] - self._center[running]) < self._half[running]).all(1)
        slow = (v**2).sum(1) < REST_SPEED**2
        settled = over_bin & (p[:, 2] < self._height[running]) & slow & (tick > self._released[running])
        lost = ~over_bin & (p[:, 2] < self._lost_below[running]) & (tick > self._lifted[running])
        self._settled[running] = np.where(settled, self._settled[running] + 1, 0)
        self._lost[running] = np.where(lost, self._lost[running] + 1, 0)
        return (self._settled[running] >= SETTLED_TICKS) | (self._lost[running] >= LOST_TICKS)


class Funnel:
    """Attempts by reason; what `funnel.json` and the lineage columns hold."""

    def __init__(self, counts: Iterable[tuple[str, int]] = ()) -> None:
        self._counts: Counter[str] = Counter(dict(counts))

    def add(self, reason: Reason | str | None) -> None:
        """Count one attempt; None is an accepted one."""
        self._counts["accepted" if reason is None else str(reason)] += 1

    @property
    def attempts(self) -> int:
        """All of them."""
        return sum(self._counts.values())

    @property
    def accepted(self) -> int:
        """Those that became data."""
        return self._counts["accepted"]

    def rejections(self) -> dict[str, int]:
        """Rejected attempts by reason, those that occurred."""
        return {reason.value: self._counts[reason.value] for reason in Reason if self._counts[reason.value]}

    def to_json(self) -> dict[str, int]:
        """Counts in a fixed order, with a zero for every reason that did not occur."""
        names = ["accepted", *(reason.value for reason in Reason)]
        return {"attempts": self.attempts, **{name: self._counts[name] for name in names}}


def _in_box(box: BinBox, positions: Array) -> NDArray[np.bool_]:
    within = np.abs(positions[:, :2] - np.array(box.center)) < np.array(box.half_extents)
    return within.all(1) & (positions[:, 2] < box.height)


def _belt_top(cell: CellDescription, world: WorldParameters, initial: InitialState) -> float:
    return cell.belt.center[2] + world.layout.belt_offset[2] + initial.belt_raise
