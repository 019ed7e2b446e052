"""What the agent needs of a cell, bench or hardware: lay out a trial, see, move one tick, judge, stop."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from robots.agent.protocol import Proposal, TrialStart

Image = NDArray[np.uint8]


@dataclass(frozen=True)
class Observation:
    """What the cell shows at one control tick.

    Attributes:
        time_s: since the trial was laid out.
        position: measured joint positions (n,) [rad].
        images: newest image of each view, uint8 (H, W, 3); one object per exposure, so `is` tells a new one.
    """

    time_s: float
    position: NDArray[np.float64]
    images: Mapping[str, Image]


class RigStoppedError(Exception):
    """The software stop is engaged: the cell does not move."""


class Rig(Protocol):
    """A cell that the agent drives. Calls come from one thread, except `stop`, which may come from any."""

    joint_names: tuple[str, ...]
    robot_type: str
    is_lockstep: bool

    def prepare(self, order: TrialStart, image_size: int | None) -> Observation:
        """Lay out the trial and return what is seen; `image_size` is what the policy was trained with."""
        ...

    def step(self, command: NDArray[np.float64]) -> Observation:
        """Command joint positions (n,) [rad] and return what is seen one control tick later.

        Raises:
            RigStoppedError: the software stop is engaged.
        """
        ...

    def look(self) -> Observation:
        """What is seen now, without moving."""
        ...

    def is_over(self) -> bool:
        """Whether the referee has seen enough."""
        ...

    def stages(self) -> Mapping[str, float]:
        """Stages that the referee had seen when last asked (`is_over`, `judge`), each with its time [s].

        On the clock of `Observation.time_s`; must not wait. Empty for a rig without such a referee.
        """
        ...

    def judge(self) -> Proposal:
        """What the referee proposes for the trial so far."""
        ...

    def extra(self) -> dict[str, object]:
        """Facts of the trial to keep with its recording (start, conditions)."""
        ...

    def stop(self, pressed: bool) -> None:
        """Engage or release the software stop."""
        ...

    def close(self) -> None: ...
