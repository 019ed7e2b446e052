"""A demonstration as motion: measured tool path, commanded hand, and the phases cut from both."""

from dataclasses import dataclass

import numpy as np

from generation.arrays import Array
from generation.behavior.task import PickTask
from robots.cell.description import CONTROL_DT


@dataclass(frozen=True)
class Segments:
    """Ticks at which the phases of a pick-and-place begin."""

    close: int  # fingers start to close
    lift: int  # the closed hand starts to rise
    lower: int  # the hand starts down into the bin
    open: int  # fingers start to open
    retreat: int  # fingers are open again


@dataclass(frozen=True)
class Demonstration:
    """One human recording and the scene it was made in.

    Attributes:
        name: how lineage columns call it, e.g. `episode 12`.
        task: the object as perceived, and the bin.
        position, rotation: measured TCP poses (T, 3), (T, 3, 3).
        hand: commanded hand joints (T, 20) [rad]; they hold the squeeze that measured ones cannot show.
        segments: phase boundaries.
    """

    name: str
    task: PickTask
    position: Array
    rotation: Array
    hand: Array
    segments: Segments

    @property
    def close_time(self) -> float:
        """When the fingers start to close [s]."""
        return self.segments.close * CONTROL_DT


def closure(hand: Array) -> Array:
    """How far the hand is closed at each tick (T,), 0 at its start and 1 at its most closed.

    The projection of the joints on the line between these two shapes, so that no shape has to be known.
    """
    start = hand[:5].mean(0)
    line = hand[np.argmax(((hand - start) ** 2).sum(1))] - start
    length = float(line @ line)
    if length < 1e-3:
        raise ValueError("the hand never closes")
    return (hand - start) @ line / length


def segment(position: Array, hand: Array) -> Segments:
    """Cut a recording by the hand's closure and the tool's height.

    Args:
        position: TCP positions (T, 3) [m].
        hand: commanded hand joints (T, 20) [rad].

    Raises:
        ValueError: the hand never closes or never opens again; nothing to adapt.
    """
    closed = closure(hand)
    grasped, released = np.flatnonzero(closed > 0.85)[[0, -1]]
    opened = np.flatnonzero(closed[released:] < 0.15)
    if not len(opened) and closed[-1] > 0.6:
        raise ValueError("the hand never opens again after the grasp")
    before = np.flatnonzero(closed[:grasped] < 0.1)
    close = int(before[-1]) if len(before) else 0
    z = position[:, 2]
    rising = np.flatnonzero(z[grasped:released] > z[grasped] + 0.008)
    if not len(rising):
        raise ValueError("the closed hand never rises")
    lift = int(grasped + rising[0])
    high = np.flatnonzero(z[lift:released] > z[released] + 0.8 * (z[lift:released].max() - z[released]))
    lower = int(lift + high[-1]) if len(high) else int(released)
    retreat = int(released + opened[0]) if len(opened) else len(hand) - 1
    return Segments(close, lift, lower, int(released), retreat)
