"""The seeded schedule of a study: pure, the same seed gives the same order.

Randomised complete blocks: a block holds one trial of every arm under one condition, with one object, belt speed, bin
and seed, so that the arms of a block are paired. Conditions are spread evenly over time. The arms' orders are the rows
of randomly labelled Williams squares (Williams 1949): every arm comes equally often at every place of a block and right
after every other arm, so neither a warm motor nor what the last trial left behind favours one.
"""

from collections.abc import Iterator, Sequence
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
    decks = {c.slug: iter(_deck(c, rng)) for c in conditions}
    orders = _arm_orders(arms, rng)
    slots: list[PlannedSlot] = []
    for block, condition in enumerate(_condition_order(conditions, rng), start=1):
        object_, bin_ = next(decks[condition.slug])
        shared = {
            "condition": condition.slug,
            "object": object_,
            "belt_speed": round(rng.uniform(*condition.belt_speed), 4),
            "bin": bin_,
            "seed": rng.randrange(SEED_LIMIT),
        }
        for arm in next(orders):
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


def _arm_orders(arms: Sequence[str], rng: Random) -> Iterator[list[str]]:
    """Orders of the arms, block by block, balanced after every n blocks (2 n where n is odd)."""
    while True:
        labelled = rng.sample(list(arms), len(arms))
        for row in rng.sample(rows := _williams_rows(len(arms)), len(rows)):
            yield [labelled[place] for place in row]


def _williams_rows(n: int) -> list[list[int]]:
    """Orders of n things in which each is at each place, and right after each other one, equally often."""
    first = [(k // 2 if k % 2 == 0 else n - 1 - k // 2) for k in range(n)]
    rows = [[(place + shift) % n for place in first] for shift in range(n)]
    return rows if n % 2 == 0 or n == 1 else rows + [row[::-1] for row in rows]


def _deck(condition: ConditionPlan, rng: Random) -> list[tuple[str, str]]:
    """Objects and bins of a condition's trials, as evenly used as the count allows; sides take turns in pairs."""
    deck: list[tuple[str, str]] = []
    while len(deck) < condition.trials:
        deck += _round(condition.objects, rng)
    return deck[: condition.trials]


def _round(objects: Sequence[str], rng: Random) -> list[tuple[str, str]]:
    """Every object once in each bin. Of each two trials in a row one goes left, one right."""
    order = rng.sample(list(objects), len(objects))
    sides = [side for _ in objects for side in rng.sample(("left", "right"), 2)]
    first = list(zip(order, sides, strict=False))
    waiting = {side: [name for name, taken in first if taken != side] for side in ("left", "right")}
    for names in waiting.values():
        rng.shuffle(names)
    return first + [(waiting[side].pop(), side) for side in sides[len(objects) :]]
