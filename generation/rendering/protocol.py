"""What a renderer takes and gives, and which ticks get a frame of their own."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from generation.arrays import Array
from robots.cell.description import CONTROL_HZ
from robots.cell.initial import InitialState

Frames = NDArray[np.uint8]


class FrameRenderer(Protocol):
    """Draws states of one world from every policy view."""

    @property
    def views(self) -> tuple[str, ...]:
        """Names of the views."""

    def render(self, initial: InitialState, qpos: Array) -> dict[str, Frames]:
        """Frames (F, H, W, 3) per view of states qpos (F, nq) of an episode that began at `initial`."""

    def close(self) -> None:
        """Free what it holds."""


def frame_ticks(ticks: int, fps: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which ticks a camera of `fps` frames a second sees.

    Returns:
        The ticks at which it takes a frame (F,), and for every tick the newest frame's index (ticks,): as on a robot, a
        row of an episode holds the newest frame there is.
    """
    newest = (np.arange(ticks) * min(fps / CONTROL_HZ, 1.0) + 1e-9).astype(np.int64)
    taken = np.flatnonzero(np.diff(newest, prepend=-1))
    return taken, newest
