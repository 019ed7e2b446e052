"""Which joints of an embodiment are taken relative, and which belong together; told from their names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

HAND = re.compile(r"hand|finger|thumb|gripper", re.IGNORECASE)
SYNERGY_GROUP = re.compile(r"^(left|right)_hand_")


@dataclass(frozen=True)
class JointLayout:
    """Roles of the entries of the joint vector.

    Attributes:
        names: action names, in order (D,).
        relative: entries whose command is learned relative to the measured joint: arms.
        groups: entries that move together and may be reduced to synergies: dexterous hands.
    """

    names: tuple[str, ...]
    relative: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]


def joint_layout(action_names: Sequence[str], state_names: Sequence[str]) -> JointLayout:
    """Roles from names: a joint is an arm's unless its name speaks of a hand, finger or gripper.

    Only joints that the state measures under the same name, at the same place, can be relative. Hands named
    `left_hand_*` or `right_hand_*` form one group each; hands named otherwise are learned joint by joint.
    """
    measured = [i < len(state_names) and state_names[i] == name for i, name in enumerate(action_names)]
    relative = tuple(i for i, name in enumerate(action_names) if measured[i] and not HAND.search(name))
    sides: dict[str, list[int]] = {}
    for i, name in enumerate(action_names):
        if found := SYNERGY_GROUP.match(name):
            sides.setdefault(found.group(1), []).append(i)
    return JointLayout(tuple(action_names), relative, tuple(tuple(group) for group in sides.values()))
