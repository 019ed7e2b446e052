"""Frames no dataset may hold: black, flat or frozen ones, as a lost context or a hung renderer leaves them."""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Frames = NDArray[np.uint8]

DARKEST = 4.0  # mean of a frame, 0 to 255
FLATTEST = 2.0  # standard deviation of a frame
FROZEN = 8  # equal frames in a row, in every view at once, while the robot moves


class RenderFaultError(RuntimeError):
    """A renderer gave frames that cannot be right."""


def check_frames(frames: Mapping[str, Frames], moves: NDArray[np.bool_]) -> None:
    """Look at one episode's frames (F, H, W, 3) per view.

    Args:
        moves: (F - 1,) whether the scene changed visibly from each frame to the next.

    Raises:
        RenderFaultError: naming view and frame.
    """
    still = np.ones(len(moves), bool)
    for view, images in frames.items():
        small = images[:, ::4, ::4].reshape(len(images), -1)
        dark, flat = small.mean(1) < DARKEST, small.std(1) < FLATTEST
        if (dark | flat).any():
            first = int(np.argmax(dark | flat))
            kind = "black" if dark[first] else "of one colour"
            raise RenderFaultError(f"view {view}, frame {first} is {kind}")
        still &= np.array([np.array_equal(a, b) for a, b in pairwise(images)], bool)
    run = 0
    for k, is_frozen in enumerate((still & moves).tolist()):
        run = run + 1 if is_frozen else 0
        if run >= FROZEN:
            raise RenderFaultError(f"all views stand still from frame {k + 1 - run} to {k + 1} while the robot moves")
