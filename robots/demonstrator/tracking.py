"""From intended TCP poses to joint targets: inverse kinematics, feed-forward, and correction by what is seen."""

import numpy as np
import numpy.typing as npt

from robots.cell.description import ARM_DOF, CONTROL_DT, CellDescription
from robots.cell.kinematics import ArmKinematics, grasp_rotation

Array = npt.NDArray[np.float64]
LINK_INERTIA = np.array([1.6, 2.0, 0.4, 0.7, 0.06, 0.06, 0.01])  # typical, seen from each joint [kg m2]
MAX_ACCELERATION = 6.0


class TargetTracker:
    """Joint targets that make a servo with lag follow a TCP path.

    q_target = q + kv/kp qd + I/kp qdd for the described gains. What these leave over, the demonstrator sees and
    corrects: the position error of the TCP is integrated slowly, within `max_correction` metres.
    """

    def __init__(
        self, cell: CellDescription, kinematics: ArmKinematics, *, gain: float = 2.0, max_correction: float = 0.02
    ) -> None:
        joints = cell.right_arm.joints
        kp = np.array([j.kp for j in joints])
        self._lag = np.array([j.kv for j in joints]) / kp
        self._acceleration = (np.array([j.armature for j in joints]) + LINK_INERTIA) / kp
        self._kinematics, self._gain, self._max = kinematics, gain, max_correction
        self._q = np.array(cell.q_home)
        self._qd = np.zeros(ARM_DOF)
        self._correction = np.zeros(3)

    def observe(self, q_measured: Array, intended: Array) -> None:
        """Compare where the TCP is with where it was meant to be by now, (3,) [m]."""
        seen, _ = self._kinematics.fk(q_measured)
        self._correction += self._gain * CONTROL_DT * (intended - seen)
        self._correction = np.clip(self._correction, -self._max, self._max)

    def target(self, position: Array, yaw: float) -> Array:
        """Arm joint targets for the next tick, (7,) [rad]."""
        q = self._kinematics.ik(self._q, position + self._correction, grasp_rotation(yaw))
        qd = (q - self._q) / CONTROL_DT
        qdd = np.clip((qd - self._qd) / CONTROL_DT, -MAX_ACCELERATION, MAX_ACCELERATION)
        self._q, self._qd = q, qd
        return q + self._lag * qd + self._acceleration * qdd
