"""Batched forward and differential inverse kinematics of one serial arm (product of exponentials).

The screw axes are read once from the compiled MuJoCo model, so the chain is the world's own; afterwards hundreds of
trajectories are solved tick by tick in one set of array operations.
"""

from dataclasses import dataclass
from typing import NamedTuple

import mujoco
import numpy as np

from generation.arrays import Array


class ChainPose(NamedTuple):
    """Tool poses of B configurations and their world-frame Jacobians."""

    position: Array  # (B, 3) [m]
    rotation: Array  # (B, 3, 3), columns are the tool axes in the world
    jacobian: Array  # (B, 6, n), linear above angular


@dataclass(frozen=True)
class SerialChain:
    """Zero-configuration screws of a serial arm: T(q) = exp(S1 q1) ... exp(Sn qn) M."""

    axes: Array  # (n, 3) joint axes in the world at q = 0
    anchors: Array  # (n, 3) points on those axes [m]
    position: Array  # (3,) tool position at q = 0 [m]
    rotation: Array  # (3, 3) tool rotation at q = 0
    lower: Array  # (n,) joint limits [rad]
    upper: Array

    @classmethod
    def from_model(cls, model: mujoco.MjModel, joints: list[str], site: str) -> "SerialChain":
        """Read the chain of `joints` (base to tip, all hinges) that carries `site`."""
        data = mujoco.MjData(model)
        ids = [model.joint(name).id for name in joints]
        data.qpos[model.jnt_qposadr[ids]] = 0.0
        mujoco.mj_kinematics(model, data)
        tool = model.site(site).id
        limits = model.jnt_range[ids]
        return cls(
            axes=data.xaxis[ids].copy(),
            anchors=data.xanchor[ids].copy(),
            position=data.site_xpos[tool].copy(),
            rotation=data.site_xmat[tool].reshape(3, 3).copy(),
            lower=limits[:, 0].copy(),
            upper=limits[:, 1].copy(),
        )

    def forward(self, q: Array) -> ChainPose:
        """Tool pose and Jacobian at q, (B, n) [rad]."""
        B, n = q.shape
        R = np.broadcast_to(np.eye(3), (B, 3, 3))
        p = np.zeros((B, 3))
        axes, anchors = np.empty((B, n, 3)), np.empty((B, n, 3))
        turns = _rotations(self.axes, q)
        for i in range(n):
            axes[:, i] = R @ self.axes[i]
            anchors[:, i] = R @ self.anchors[i] + p
            R_next = R @ turns[:, i]
            p = anchors[:, i] - R_next @ self.anchors[i]
            R = R_next
        position = R @ self.position + p
        linear = _cross(axes, position[:, None] - anchors)
        jacobian = np.concatenate([linear, axes], axis=2).transpose(0, 2, 1)
        return ChainPose(position, R @ self.rotation, jacobian)


@dataclass(frozen=True)
class InverseKinematics:
    """Damped least squares with the posture pulled towards `posture` in the null space."""

    chain: SerialChain
    posture: Array  # (n,) [rad]
    damping: float = 0.02
    rotation_weight: float = 0.4
    posture_gain: float = 0.05
    margin: float = 0.02  # kept from the joint limits [rad]

    def refine(self, q: Array, position: Array, rotation: Array, iterations: int = 2) -> Array:
        """Move q (B, n) towards the tool poses position (B, 3), rotation (B, 3, 3)."""
        n = q.shape[1]
        weights = np.repeat([1.0, self.rotation_weight], 3)
        for _ in range(iterations):
            pose = self.chain.forward(q)
            error = np.concatenate([position - pose.position, rotation_error(rotation, pose.rotation)], 1) * weights
            J = pose.jacobian * weights[:, None]
            JT = J.transpose(0, 2, 1)
            inverse = JT @ np.linalg.inv(J @ JT + self.damping**2 * np.eye(6))
            bias = self.posture_gain * (self.posture - q)
            step = (inverse @ (error - (J @ bias[..., None])[..., 0])[..., None])[..., 0] + bias
            q = np.clip(q + step, self.chain.lower + self.margin, self.chain.upper - self.margin)
        return q.reshape(-1, n)

    def follow(self, start: Array, position: Array, rotation: Array) -> tuple[Array, Array]:
        """Solve B tool paths tick by tick, warm-started.

        Args:
            start: (B, n) configurations before the first tick [rad].
            position: (B, T, 3) [m].
            rotation: (B, T, 3, 3).

        Returns:
            Joint paths (B, T, n) [rad] and the position error (B, T) [m] that is left.
        """
        q, path = start, np.empty((*position.shape[:2], start.shape[1]))
        for k in range(position.shape[1]):
            q = self.refine(q, position[:, k], rotation[:, k])
            path[:, k] = q
        reached = self.chain.forward(path.reshape(-1, path.shape[2])).position.reshape(position.shape)
        return path, np.linalg.norm(reached - position, axis=2)

    def solve(self, position: Array, rotation: Array, iterations: int = 300) -> Array:
        """One configuration (n,) for one tool pose, from the posture."""
        return self.refine(self.posture[None], position[None], rotation[None], iterations)[0]


def rotation_error(target: Array, current: Array) -> Array:
    """Small-angle vector (B, 3) that turns `current` towards `target`: half the sum of the axes' cross products."""
    return 0.5 * _cross(current.transpose(0, 2, 1), target.transpose(0, 2, 1)).sum(1)


def rotation_z(angle: Array) -> Array:
    """Rotations about the vertical, (..., 3, 3), of angles (...) [rad]."""
    c, s, zero, one = np.cos(angle), np.sin(angle), np.zeros_like(angle), np.ones_like(angle)
    return np.stack([c, -s, zero, s, c, zero, zero, zero, one], -1).reshape(*np.shape(angle), 3, 3)


def _cross(a: Array, b: Array) -> Array:
    """Cross product over the last axis, without numpy's generic axis handling."""
    x, y, z = (a[..., i] for i in range(3))
    u, v, w = (b[..., i] for i in range(3))
    return np.stack([y * w - z * v, z * u - x * w, x * v - y * u], -1)


def _rotations(axes: Array, q: Array) -> Array:
    """Rodrigues' rotations (B, n, 3, 3) about the unit axes (n, 3) by q (B, n)."""
    K = np.zeros((len(axes), 3, 3))
    K[:, 0, 1], K[:, 0, 2], K[:, 1, 2] = -axes[:, 2], axes[:, 1], -axes[:, 0]
    K -= K.transpose(0, 2, 1)
    return np.eye(3) + np.sin(q)[..., None, None] * K + (1 - np.cos(q))[..., None, None] * (K @ K)
