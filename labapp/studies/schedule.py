"""The seeded schedule of a study: pure, the same seed gives the same order.

Randomised complete blocks: a block holds one trial of every arm under one condition, with one object, belt speed, bin
and seed, so that the arms of a block are paired. Conditions are spread evenly over time; the arms' order within a block
is shuffled.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

SEED_LIMIT = 2**31


@dataclass(frozen=True)
class ConditionPlan:
    """What the schedule needs to know of a condition; ``objects`` are the names it may use."""

    slug: str
    trials: int
    belt_speed: tuple[float, float]
    objects: tuple[str, ...]


@dataclass(frozen=True)
class PlannedSlot:
    position: int
    block: int
    arm: str
    condition: str
    object: str
    belt_speed: float
    bin: str
    seed: int


def plan_slots(arms: Sequence[str], conditions: Sequence[ConditionPlan], seed: int) -> list[PlannedSlot]:
    """All slots of a study in running order.

    Raises:
        ValueError: no arm, an arm named twice, no trial, or a condition without objects.
    """
    check_plan(arms, conditions)
    rng = Random(seed)
    decks = {c.slug: _deck(c, rng) for c in conditions}
    slots: list[PlannedSlot] = []
    for block, condition in enumerate(_condition_order(conditions, rng), start=1):
        object_, bin_ = decks[condition.slug].pop()
        shared = {
            "condition": condition.slug,
            "object": object_,
            "belt_speed": round(rng.uniform(*condition.belt_speed), 4),
            "bin": bin_,
            "seed": rng.randrange(SEED_LIMIT),
        }
        for arm in rng.sample(list(arms), len(arms)):
            slots.append(PlannedSlot(position=len(slots) + 1, block=block, arm=arm, **shared))
    return slots


def check_plan(arms: Sequence[str], conditions: Sequence[ConditionPlan]) -> None:
    if not arms:
        raise ValueError("a study needs at least one arm")
    if len(set(arms)) != len(arms):
        raise ValueError(f"arm codes must differ, got {sorted(arms)}")
    if sum(c.trials for c in conditions) < 1:
        raise ValueError("a study needs at least one trial per arm")
    empty = [c.slug for c in conditions if c.trials and not c.objects]
    if empty:
        raise ValueError(f"no object fits the condition {', '.join(empty)}")


def _condition_order(conditions: Sequence[ConditionPlan], rng: Random) -> list[ConditionPlan]:
    """Each condition's k-th of n trials falls in the k-th n-th of the study: balanced over time, random within."""
    moments = [((k + rng.random()) / c.trials, i) for i, c in enumerate(conditions) for k in range(c.trials)]
    return [conditions[i] for _, i in sorted(moments)]


def _deck(condition: ConditionPlan, rng: Random) -> list[tuple[str, str]]:
    """Objects and bins of a condition's trials, as evenly used as the count allows."""
    pairs = [(name, side) for name in condition.objects for side in ("left", "right")]
    deck: list[tuple[str, str]] = []
    while len(deck) < condition.trials:
        deck += rng.sample(pairs, len(pairs))
    return deck[: condition.trials]
