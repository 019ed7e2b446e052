"""Success, furthest stage and failure mode of a trial, from one `SceneSample` a tick. Pure: no simulator here."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from robots.cell.description import CONTROL_DT, BinDescription, CellDescription, Side
from robots.cell.sample import SceneSample
from robots.cell.world import WorldParameters

Stage = Literal["approach", "contact", "lift", "carry", "release", "placed"]
FailureMode = Literal["missed_pick", "dropped", "failed_release", "drift", "wrong_bin", "collision", "timeout"]
STAGES: tuple[Stage, ...] = ("approach", "contact", "lift", "carry", "release", "placed")
FAILURE_MODES: tuple[FailureMode, ...] = (
    "missed_pick", "dropped", "failed_release", "drift", "wrong_bin", "collision", "timeout",
)  # fmt: skip

REST_SPEED = 0.02
LIFT_HEIGHT = 0.03
CARRY_DISTANCE = 0.10
COLLISION_FORCE = 80.0
COLLISION_TICKS = 3
IDLE_SPEED = 0.02
IDLE_TIME = 0.5


@dataclass(frozen=True)
class BinBox:
    """Inside of a bin in the world: centre and half extents (x, y), height [m]."""

    center: tuple[float, float]
    half_extents: tuple[float, float]
    height: float

    @classmethod
    def of(cls, bin_: BinDescription, offset: tuple[float, float]) -> "BinBox":
        """The bin shifted by a world's layout."""
        return cls((bin_.center[0] + offset[0], bin_.center[1] + offset[1]), bin_.half_extents, bin_.height)

    def is_over(self, position: np.ndarray) -> bool:
        """True above or inside the bin."""
        return all(abs(position[i] - self.center[i]) < self.half_extents[i] for i in range(2))

    def contains(self, position: np.ndarray) -> bool:
        """True inside the bin."""
        return self.is_over(position) and position[2] < self.height


def bin_box(cell: CellDescription, world: WorldParameters, side: Side | str) -> BinBox:
    """The inside of a bin as it stands in a world."""
    return BinBox.of(cell.bin(side), world.layout.bin_offset(side))


class SuccessPredicate:
    """In the assigned bin, released and at rest for `hold_ticks` ticks in a row."""

    def __init__(self, box: BinBox, hold_ticks: int = 25) -> None:
        self.box, self.hold_ticks, self.held = box, hold_ticks, 0

    def update(self, sample: SceneSample) -> bool:
        """Take in one tick; True once the object has stayed long enough."""
        rests = sample.object_speed < REST_SPEED and not sample.is_touching
        self.held = self.held + 1 if rests and self.box.contains(sample.object_position) else 0
        return self.held >= self.hold_ticks


@dataclass(frozen=True)
class Verdict:
    """Outcome of a trial; `failure_mode` is None for a success; `time_s` is when it was decided."""

    success: bool
    furthest_stage: Stage
    failure_mode: FailureMode | None
    time_s: float


class TrialJudge:
    """Watches a trial tick by tick: `update` each tick, `is_over` to stop early, `verdict` at the end.

    `reached` has every stage seen so far with the time [s] of its first tick, in their order.
    """

    def __init__(self, cell: CellDescription, world: WorldParameters, bin_side: Side, hold_ticks: int = 25) -> None:
        other = "right" if bin_side == "left" else "left"
        self.box, self.other_box = bin_box(cell, world, bin_side), bin_box(cell, world, other)
        self._right = SuccessPredicate(self.box, hold_ticks)
        self._wrong = SuccessPredicate(self.other_box, hold_ticks)
        self.stage: Stage = "approach"
        self.reached: dict[Stage, float] = {"approach": 0.0}
        self.success = self.in_wrong_bin = self.collided = False
        self._hard_ticks = 0
        self._idle = 0.0
        self._grip_position: np.ndarray | None = None
        self._was_over_bin = False
        self._last: SceneSample | None = None

    @property
    def is_over(self) -> bool:
        """True when nothing can change the outcome any more."""
        return self.success or self.in_wrong_bin or self.collided

    def update(self, sample: SceneSample) -> None:
        """Take in one tick."""
        self._hard_ticks = self._hard_ticks + 1 if sample.obstacle_force > COLLISION_FORCE else 0
        self.collided |= self._hard_ticks >= COLLISION_TICKS
        self.success |= self._right.update(sample)
        self.in_wrong_bin |= self._wrong.update(sample)
        self._idle = self._idle + CONTROL_DT if sample.tcp_speed < IDLE_SPEED else 0.0
        self._advance(sample)
        self._last = sample

    def _advance(self, s: SceneSample) -> None:
        reached = STAGES.index(self.stage)
        if s.is_touching:
            reached = max(reached, 1)
            if s.object_height > LIFT_HEIGHT:
                if self._grip_position is None:
                    self._grip_position = s.object_position[:2].copy()
                moved = float(np.linalg.norm(s.object_position[:2] - self._grip_position))
                self._was_over_bin |= self.box.is_over(s.object_position)
                reached = max(reached, 3 if moved > CARRY_DISTANCE else 2)
        elif reached == 3 and self._was_over_bin:
            reached = 4
        self.stage = STAGES[5 if self.success else reached]
        self.reached.setdefault(self.stage, s.time)

    def verdict(self) -> Verdict:
        """The outcome as it stands after the last tick; raises ValueError before the first one."""
        if self._last is None:
            raise ValueError("a verdict needs at least one tick")
        mode = None if self.success else self._failure(self._last)
        return Verdict(self.success, self.stage, mode, self._last.time)

    def _failure(self, s: SceneSample) -> FailureMode:
        if self.collided:
            return "collision"
        if self.in_wrong_bin or (self.other_box.contains(s.object_position) and not s.is_touching):
            return "wrong_bin"
        if self.stage in ("approach", "contact"):
            return "missed_pick"
        if s.is_touching:
            if self.box.is_over(s.object_position):
                return "failed_release"
            return "drift" if self._idle >= IDLE_TIME else "timeout"
        return "timeout" if self.box.contains(s.object_position) else "dropped"
