"""Forward and inverse kinematics of one arm's TCP on the nominal model."""

import mujoco
import numpy as np
import numpy.typing as npt

from robots.cell.description import ARM_DOF, CellDescription
from robots.cell.mjcf import robot_spec
from robots.cell.world import WorldParameters, nominal_world

Array = npt.NDArray[np.float64]
LIMIT_MARGIN = 0.02


class ArmKinematics:
    """TCP kinematics of the `right` or `left` arm.

    Inverse: damped least squares, warm started, with a posture in the null space,
    dq = J^T (J J^T + damping^2 I)^-1 e + (I - J^+ J) bias (q_posture - q), rotation rows weighted.
    """

    def __init__(self, cell: CellDescription, side: str = "right", world: WorldParameters | None = None) -> None:
        self.model = robot_spec(cell, world or nominal_world(cell), sides=(side,)).compile()
        self.data = mujoco.MjData(self.model)
        self.posture = np.array(cell.q_home if side == "right" else cell.q_left_hold)
        self.data.qpos[ARM_DOF:] = cell.hand_open if side == "right" else cell.left_hand_hold
        self.lower = self.model.jnt_range[:ARM_DOF, 0] + LIMIT_MARGIN
        self.upper = self.model.jnt_range[:ARM_DOF, 1] - LIMIT_MARGIN
        self._site = self.model.site(f"{side}_hand_tcp").id
        self._wrist = self.model.body(f"{side}_hand_wrist").id
        self._jac = np.zeros((6, self.model.nv))

    def fk(self, q: Array) -> tuple[Array, Array]:
        """TCP position (3,) [m] and rotation (3, 3) in the world for arm joints (7,) [rad]."""
        self.data.qpos[:ARM_DOF] = q
        mujoco.mj_kinematics(self.model, self.data)
        return self.data.site_xpos[self._site].copy(), self.data.site_xmat[self._site].reshape(3, 3).copy()

    def wrist(self, q: Array) -> Array:
        """`T_world_wrist`, (4, 4), the frame that carries the wrist camera."""
        self.fk(q)
        T = np.eye(4)
        T[:3, :3] = self.data.xmat[self._wrist].reshape(3, 3)
        T[:3, 3] = self.data.xpos[self._wrist]
        return T

    def jacobian(self, q: Array) -> Array:
        """Geometric Jacobian of the TCP, (6, 7): linear rows over angular rows, world axes."""
        self.fk(q)
        mujoco.mj_comPos(self.model, self.data)
        mujoco.mj_jacSite(self.model, self.data, self._jac[:3], self._jac[3:], self._site)
        return self._jac[:, :ARM_DOF].copy()

    def ik(
        self,
        q: Array,
        position: Array,
        R: Array,
        *,
        iterations: int = 2,
        damping: float = 0.02,
        rotation_weight: float = 0.4,
        bias: float = 0.05,
    ) -> Array:
        """Joints (7,) [rad] that bring the TCP towards a pose, starting from `q`; always within limits."""
        q = np.asarray(q, float)
        for _ in range(iterations):
            J = self.jacobian(q)
            M = self.data.site_xmat[self._site].reshape(3, 3)
            turn = 0.5 * np.cross(M, R, axis=0).sum(axis=1)
            error = np.concatenate([position - self.data.site_xpos[self._site], rotation_weight * turn])
            J[3:] *= rotation_weight
            J_inv = J.T @ np.linalg.inv(J @ J.T + damping**2 * np.eye(6))
            step = J_inv @ error + (np.eye(ARM_DOF) - J_inv @ J) @ (bias * (self.posture - q))
            q = np.clip(q + step, self.lower, self.upper)
        return q

    def solve(self, position: Array, R: Array, q: Array | None = None, iterations: int = 300) -> Array:
        """Converged joints (7,) [rad] for one pose, from `q` or from the posture."""
        return self.ik(self.posture if q is None else q, position, R, iterations=iterations, bias=0.02)


def grasp_rotation(yaw: float) -> Array:
    """TCP rotation of a top grasp, (3, 3): hand pointing down, fingers on the far side; yaw 0 closes along -x."""
    x = np.array([-np.cos(yaw), -np.sin(yaw), 0.0])
    z = np.array([0.0, 0.0, -1.0])
    return np.stack([x, np.cross(z, x), z], axis=1)
