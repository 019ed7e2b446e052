"""One pick-and-place as a behavior sees it: the object on the belt and the bin it goes to."""

import math
from dataclasses import dataclass

import numpy as np

from generation.arrays import Array
from robots.cell.description import CellDescription, ObjectDescription
from robots.cell.initial import ALONG_RANGE, InitialState, belt_origin
from robots.cell.world import WorldParameters


@dataclass(frozen=True)
class PickTask:
    """An object that rides on the belt and the bin assigned to it.

    Attributes:
        object: size and shape.
        position: centre of the object at time 0 (3,) [m]. yaw: its heading then [rad].
        belt_speed: along -y [m/s].
        side: `left` or `right`. bin_center: (2,) [m]. bin_yaw: heading of the tool over that bin [rad].
        bin_height: top of the bin's walls [m].
        reach: lowest and highest y of the object at which the hand may close on it [m].
    """

    object: ObjectDescription
    position: Array
    yaw: float
    belt_speed: float
    side: str
    bin_center: Array
    bin_yaw: float
    bin_height: float
    reach: tuple[float, float]

    @classmethod
    def of(cls, cell: CellDescription, world: WorldParameters, initial: InitialState) -> "PickTask":
        """The task that `initial` sets when it is laid out in `world`."""
        bin_ = cell.bin(initial.bin)
        pick = cell.pick_y + world.layout.belt_offset[1]
        return cls(
            object=cell.object(initial.object),
            position=belt_origin(cell, world) + initial.position + [0.0, 0.0, initial.belt_raise],
            yaw=initial.yaw,
            belt_speed=initial.belt_speed,
            side=initial.bin,
            bin_center=np.add(bin_.center, world.layout.bin_offset(initial.bin)),
            bin_yaw=bin_.drop_yaw,
            bin_height=bin_.height,
            reach=(pick - ALONG_RANGE, pick + ALONG_RANGE),
        )

    @property
    def top(self) -> float:
        """Height of the object's top [m]."""
        return float(self.position[2]) + self.object.half_height

    def center(self, t: Array) -> Array:
        """Centre of the object, riding, at times t (T,): (T, 3) [m]."""
        return self.position + np.multiply.outer(t, [0.0, -self.belt_speed, 0.0])

    def top_center(self, t: Array) -> Array:
        """Middle of the riding object's top at times t (T,): (T, 3) [m]."""
        return self.center(t) + np.array([0.0, 0.0, self.object.half_height])

    def close_time(self, wanted: float) -> float:
        """The time nearest to `wanted` at which the riding object is within reach [s].

        Raises:
            ValueError: the object never gets there after the start.
        """
        low, high = self.reach
        if self.belt_speed <= 0:
            if low <= self.position[1] <= high:
                return wanted
            raise ValueError(f"the object stands still at y = {self.position[1]:.3f} m, reach is {low:.3f}..{high:.3f}")
        first, last = ((float(self.position[1]) - y) / self.belt_speed for y in (high, low))
        if last <= 0:
            raise ValueError(f"the object starts at y = {self.position[1]:.3f} m, past the reach {low:.3f}..{high:.3f}")
        return min(max(wanted, first, 0.0), last)


def symmetry(obj: ObjectDescription) -> float:
    """The turn about the vertical after which a box looks the same [rad]; 0 for round objects (any turn)."""
    if obj.is_round:
        return 0.0
    return math.pi / 2 if math.isclose(obj.size[0], obj.size[1]) else math.pi


def nearest_turn(angle: float, period: float, target: float = 0.0) -> float:
    """angle + k * period nearest to `target`; `target` itself for period 0 (any turn will do)."""
    return target + math.remainder(angle - target, period) if period else target
