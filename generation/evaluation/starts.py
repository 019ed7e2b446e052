"""Which rollouts an evaluation holds: the same starts for every policy, so that policies are compared in pairs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from generation.evaluation.config import ConditionConfig, StartConfig
from robots.cell.description import CellDescription, Side
from robots.cell.initial import LIGHT_COLORS, Appearance, InitialState, trial_initial_state

SIDES: tuple[Side, Side] = ("left", "right")


@dataclass(frozen=True)
class RolloutOrder:
    """One rollout to run: its number within the evaluation, its condition and its start."""

    number: int
    condition: str
    start: StartConfig
    initial: InitialState


def rollout_orders(cell: CellDescription, conditions: Sequence[ConditionConfig], seed: int) -> list[RolloutOrder]:
    """All rollouts of one policy, in order; the given starts of each condition first, drawn ones after them."""
    orders: list[RolloutOrder] = []
    for index, condition in enumerate(conditions):
        look = Appearance(light_color=LIGHT_COLORS[condition.light])
        for k in range(condition.rollouts):
            start = condition.starts[k] if k < len(condition.starts) else _drawn(condition, [seed, index, k], k)
            initial = trial_initial_state(
                cell, object_name=start.object, belt_speed=start.belt_speed, bin_side=start.bin, seed=start.seed
            )
            orders.append(RolloutOrder(len(orders), condition.name, start, replace(initial, appearance=look)))
    return orders


def noise_seed(seed: int, number: int, tick: int) -> int:
    """Seed of a policy's noise at one tick of one rollout; the same for every policy."""
    return int(np.random.SeedSequence([seed, number, tick]).generate_state(1)[0])


def _drawn(condition: ConditionConfig, seeds: list[int], k: int) -> StartConfig:
    """Start k of a condition; objects and bins take turns."""
    rng = np.random.default_rng(seeds)
    turn, place = divmod(k, len(condition.objects))
    return StartConfig(
        object=condition.objects[place],
        belt_speed=round(float(rng.uniform(*condition.belt_speed)), 4),
        bin=SIDES[(place + turn) % 2],
        seed=int(rng.integers(2**31)),
    )
