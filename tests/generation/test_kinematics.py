"""The batched arm kinematics against MuJoCo's and against finite differences."""

import numpy as np
import pytest

from generation.behavior.commands import right_chain
from generation.behavior.kinematics import InverseKinematics, SerialChain, rotation_z
from generation.behavior.plan import tool_rotation, tool_yaw
from robots.cell.bench import BENCH_CELL
from robots.cell.kinematics import ArmKinematics, grasp_rotation
from robots.cell.world import WorldParameters


@pytest.fixture(scope="module")
def chain(world: WorldParameters) -> SerialChain:
    return right_chain(BENCH_CELL, world)


def test_the_chain_puts_the_tool_where_mujoco_does(chain: SerialChain) -> None:
    q = np.random.default_rng(0).uniform(-1, 1, (20, 7))
    reference = ArmKinematics(BENCH_CELL)
    pose = chain.forward(q)
    for i in range(len(q)):
        p, R = reference.fk(q[i])
        np.testing.assert_allclose(pose.position[i], p, atol=1e-9)
        np.testing.assert_allclose(pose.rotation[i], R, atol=1e-9)
        np.testing.assert_allclose(pose.jacobian[i], reference.jacobian(q[i]), atol=1e-9)


def test_the_jacobian_is_the_derivative_of_the_position(chain: SerialChain) -> None:
    q, h = np.random.default_rng(1).uniform(-1, 1, (1, 7)), 1e-6
    for j in range(7):
        step = np.eye(7)[j] * h
        numeric = (chain.forward(q + step).position - chain.forward(q - step).position)[0] / (2 * h)
        np.testing.assert_allclose(chain.forward(q).jacobian[0, :3, j], numeric, atol=1e-7)


def test_a_slow_path_is_followed_to_a_fraction_of_a_millimetre(chain: SerialChain) -> None:
    ik = InverseKinematics(chain, np.array(BENCH_CELL.q_home))
    start = ik.solve(np.array(BENCH_CELL.home), tool_rotation(0.0))
    position = np.tile(BENCH_CELL.home, (2, 100, 1))
    position[0, :, 1] += np.linspace(0, 0.15, 100)
    position[1, :, 2] -= np.linspace(0, 0.10, 100)
    rotation = np.tile(tool_rotation(0.0), (2, 100, 1, 1))
    path, error = ik.follow(np.tile(start, (2, 1)), position, rotation)
    assert error.max() < 5e-4
    assert (path > chain.lower).all() and (path < chain.upper).all()


def test_a_trajectory_does_not_depend_on_its_neighbours_in_the_batch(chain: SerialChain) -> None:
    ik = InverseKinematics(chain, np.array(BENCH_CELL.q_home))
    rng = np.random.default_rng(2)
    position = BENCH_CELL.home + np.cumsum(rng.normal(0, 1e-3, (5, 40, 3)), axis=1)
    rotation = np.tile(tool_rotation(0.1), (5, 40, 1, 1))
    start = np.tile(BENCH_CELL.q_home, (5, 1))
    together, _ = ik.follow(start, position, rotation)
    alone, _ = ik.follow(start[3:4], position[3:4], rotation[3:4])
    np.testing.assert_array_equal(together[3], alone[0])


@pytest.mark.parametrize("yaw", [-0.7, 0.0, 0.4])
def test_tool_rotation_is_the_cells_grasp_frame_and_yaw_its_inverse(yaw: float) -> None:
    np.testing.assert_allclose(tool_rotation(yaw), grasp_rotation(yaw), atol=1e-12)
    assert tool_yaw(tool_rotation(yaw)) == pytest.approx(yaw)
    np.testing.assert_allclose(rotation_z(np.array(0.3)) @ tool_rotation(yaw), tool_rotation(yaw + 0.3), atol=1e-12)
