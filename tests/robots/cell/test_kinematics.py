"""Forward and inverse kinematics of the arm."""

import numpy as np
import pytest

from robots.cell.bench import BENCH_CELL
from robots.cell.kinematics import ArmKinematics, grasp_rotation
from robots.cell.scene import Scene
from robots.cell.world import nominal_world


@pytest.fixture(scope="module")
def arm() -> ArmKinematics:
    return ArmKinematics(BENCH_CELL)


def test_home_posture_puts_the_tcp_at_home_with_the_hand_down(arm):
    p, R = arm.fk(np.array(BENCH_CELL.q_home))
    assert np.allclose(p, BENCH_CELL.home, atol=2e-4)
    assert np.allclose(R, grasp_rotation(0.0), atol=2e-3)


def test_the_jacobian_agrees_with_finite_differences(arm):
    q, h = np.array(BENCH_CELL.q_home), 1e-6
    J = arm.jacobian(q)
    p0, R0 = arm.fk(q)
    for i in range(7):
        p, R = arm.fk(q + h * np.eye(7)[i])
        W = (R - R0) @ R0.T / h
        assert np.allclose(J[:, i], [*((p - p0) / h), W[2, 1], W[0, 2], W[1, 0]], atol=1e-5)


@pytest.mark.parametrize("x", [0.70, 0.765, 0.82])
@pytest.mark.parametrize("yaw", [-0.8, 0.0, 0.8])
def test_every_grasp_in_the_window_is_reached_within_the_limits(arm, x, yaw):
    target = np.array([x, -0.34, 0.13])
    q = arm.solve(target, grasp_rotation(yaw))
    p, R = arm.fk(q)
    assert np.linalg.norm(p - target) < 1e-3
    assert np.arccos(np.clip((np.trace(R.T @ grasp_rotation(yaw)) - 1) / 2, -1, 1)) < 0.01
    assert np.all(q > arm.lower) and np.all(q < arm.upper)


def test_kinematics_and_scene_agree_on_the_tcp(arm):
    scene = Scene(BENCH_CELL, nominal_world(BENCH_CELL))
    scene.data.qpos[scene.qpos_index[:7]] = [0.1, -0.3, 0.2, 1.8, 0.1, 1.5, 0.3]
    import mujoco

    mujoco.mj_kinematics(scene.model, scene.data)
    p, R = arm.fk(np.array([0.1, -0.3, 0.2, 1.8, 0.1, 1.5, 0.3]))
    assert np.allclose(scene.tcp_pose()[0], p)
    assert np.allclose(scene.tcp_pose()[1], R)
