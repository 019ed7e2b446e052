"""Tool plans to joint commands of a world: inverse kinematics, then the inverse of the position controller.

A position servo kp (u - q) - kv qd holding the inertia I reaches q at the right time when it is told
u = q + (kv / kp) qd + (I / kp) qdd, and told `delay` seconds early.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from generation.arrays import Array
from generation.behavior.kinematics import InverseKinematics, SerialChain
from generation.behavior.plan import ToolPlan, sample_rows
from robots.cell.description import CONTROL_DT, SIDE_DOF, CellDescription
from robots.cell.mjcf import robot_spec
from robots.cell.world import WorldParameters

MAX_ACCELERATION = 6.0  # rad/s2 that the feed-forward follows; more is noise
LINK_INERTIA = np.array([1.6, 2.0, 0.4, 0.7, 0.06, 0.06, 0.01])  # of the links about each joint, in a usual posture


class Commands(NamedTuple):
    """Joint targets of B plans, padded to the longest."""

    targets: Array  # (B, T, 54) [rad]
    lengths: NDArray[np.int64]  # (B,) rows of each plan
    error: Array  # (B,) largest distance between wanted and reachable tool position [m]
    speed: Array  # (B,) largest joint speed over its limit


@dataclass(frozen=True)
class ArmController:
    """The right arm of a world as the commands need it."""

    ik: InverseKinematics
    lag: Array  # (7,) kv / kp [s]
    inertia: Array  # (7,) I / kp [s2]
    delay: float  # [s]
    speed_limit: Array  # (7,) [rad/s]
    home: Array  # (54,) state at the start [rad]

    @classmethod
    def of(cls, cell: CellDescription, world: WorldParameters) -> "ArmController":
        """Controller of `cell` as `world` has it."""
        joints = cell.right_arm.joints
        dynamics = world.dynamics
        kp = np.array([j.kp for j in joints]) * dynamics.kp_scale
        kv = np.array([j.kv for j in joints]) * dynamics.kv_scale + dynamics.damping
        inertia = np.array([j.armature for j in joints]) * dynamics.armature_scale + LINK_INERTIA
        return cls(
            ik=InverseKinematics(right_chain(cell, world), np.array(cell.q_home)),
            lag=kv / kp,
            inertia=inertia / kp,
            delay=dynamics.delay,
            speed_limit=np.array([j.velocity for j in joints]),
            home=cell.home_state,
        )

    def commands(self, plans: Sequence[ToolPlan]) -> Commands:
        """Joint targets that make the arm follow each plan; row k is given at time k * CONTROL_DT."""
        lengths = np.array([len(plan) for plan in plans])
        padded = [plan.padded(lengths.max()) for plan in plans]
        start = np.tile(self.home[:7], (len(plans), 1))
        position = np.stack([plan.position for plan in padded])
        q, error = self.ik.follow(start, position, np.stack([plan.rotation for plan in padded]))
        hand = np.stack([plan.hand for plan in padded])
        targets = np.tile(self.home, (*q.shape[:2], 1))
        for i in range(len(plans)):
            targets[i, :, :SIDE_DOF] = self._early(q[i], hand[i])
        speed = np.abs(np.diff(q, axis=1)).max(1) / CONTROL_DT / self.speed_limit
        return Commands(targets, lengths, error.max(1), speed.max(1))

    def _early(self, q: Array, hand: Array) -> Array:
        """Arm and hand targets (T, 27) given ahead of their time by the delay; the arm also by its tick and its lag."""
        rows = np.arange(len(q)) + self.delay / CONTROL_DT
        smooth = gaussian_filter1d(q, 1.0, axis=0, mode="nearest")
        qd = np.gradient(smooth, CONTROL_DT, axis=0)
        qdd = np.clip(np.gradient(qd, CONTROL_DT, axis=0), -MAX_ACCELERATION, MAX_ACCELERATION)
        arm = q + self.lag * qd + self.inertia * qdd
        return np.concatenate([sample_rows(arm, rows + 1), sample_rows(hand, rows)], 1)


def right_chain(cell: CellDescription, world: WorldParameters) -> SerialChain:
    """Kinematics of the right arm up to the TCP, where `world` has its base."""
    model: mujoco.MjModel = robot_spec(cell, world, sides=("right",)).compile()
    joints = [f"right_arm_joint{i}" for i in range(1, 8)]
    return SerialChain.from_model(model, joints, "right_hand_tcp")
