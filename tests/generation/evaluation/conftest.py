"""A person's commands for some starts, kept, so that policies can replay them without learning anything."""

import numpy as np
import pytest

from generation.evaluation import RolloutOrder, rollout_orders
from generation.evaluation.config import ConditionConfig
from robots.cell.bench import BENCH_CELL
from robots.cell.kinematics import ArmKinematics
from robots.cell.scene import Scene
from robots.demonstrator.motion import SeenObject
from robots.demonstrator.person import Demonstrator

CONDITIONS = (
    ConditionConfig("nominal", 2, objects=("box", "can")),
    ConditionConfig("red-light", 1, light="red", objects=("bottle",)),
)


@pytest.fixture(scope="session")
def orders() -> list[RolloutOrder]:
    return rollout_orders(BENCH_CELL, CONDITIONS, seed=3)


@pytest.fixture(scope="session")
def recordings(scene: Scene, orders: list[RolloutOrder]) -> dict[int, np.ndarray]:
    """Commands (T, 54) of the demonstrator at each start, by the rollout's number."""
    return {order.number: _commands(scene, order) for order in orders}


def _commands(scene: Scene, order: RolloutOrder) -> np.ndarray:
    initial = order.initial
    scene.reset(initial)
    position, _ = scene.object_pose()
    top = float(scene.belt_origin()[2])
    seen = SeenObject(BENCH_CELL.object(initial.object), position, initial.yaw, initial.belt_speed, top)
    rng = np.random.default_rng(order.number)
    person = Demonstrator(BENCH_CELL, ArmKinematics(BENCH_CELL), seen, initial.bin, rng)
    actions = []
    for tick in range(person.ticks):
        actions.append(person.action(tick, scene.state()))
        scene.step(actions[-1])
    return np.array(actions)
