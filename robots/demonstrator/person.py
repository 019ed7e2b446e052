"""`Demonstrator`: one pick and place, a joint target (54,) for every tick."""

import math

import numpy as np
import numpy.typing as npt

from robots.cell import handshapes
from robots.cell.description import ARM_DOF, CONTROL_DT, SIDE_DOF, CellDescription, Side
from robots.cell.kinematics import ArmKinematics
from robots.demonstrator.motion import Motion, SeenObject
from robots.demonstrator.style import sample_style
from robots.demonstrator.tracking import TargetTracker

Array = npt.NDArray[np.float64]
EXPECTED_DELAY = 0.02


class Demonstrator:
    """Plans from what was seen at the start and follows the moving object with it.

    Args:
        kinematics: of the right arm; share one between demonstrations. rng: draws the style.
    """

    def __init__(
        self,
        cell: CellDescription,
        kinematics: ArmKinematics,
        seen: SeenObject,
        bin_side: Side,
        rng: np.random.Generator,
    ) -> None:
        self.style = sample_style(rng)
        self.motion = Motion(cell, seen, bin_side, self.style)
        self._tracker = TargetTracker(cell, kinematics)
        self._hold = cell.home_state
        self.ticks = math.ceil(self.motion.timing.end / CONTROL_DT)

    def action(self, tick: int, state: Array) -> Array:
        """Joint targets (54,) [rad] for a tick, given the measured joints (54,) [rad]."""
        t = tick * CONTROL_DT
        if tick > 0 and not self._is_in_contact(t):
            self._tracker.observe(state[:ARM_DOF], self.motion.position(t))
        ahead = t + EXPECTED_DELAY + CONTROL_DT
        position = self.motion.position(ahead) + self.style.tremble(ahead)
        action = self._hold.copy()
        action[:ARM_DOF] = self._tracker.target(position, self.motion.yaw(ahead))
        action[ARM_DOF:SIDE_DOF] = handshapes.blend(self.motion.closing(t + EXPECTED_DELAY), self.style.squeeze)
        return action

    def _is_in_contact(self, t: float) -> bool:
        """From just before the fingers close until the object is up: forces, not errors, move the hand then."""
        return self.motion.timing.close[0] - 0.1 < t < self.motion.timing.lift[1]

    def phases(self, ticks: int) -> dict[str, tuple[int, int]]:
        """Tick range [start, end) of each phase within an episode of that many ticks."""
        starts = {name: min(round(t / CONTROL_DT), ticks) for name, t in self.motion.timing.phase_starts().items()}
        ends = [*list(starts.values())[1:], ticks]
        return {name: (start, end) for (name, start), end in zip(starts.items(), ends, strict=True)}
