"""Shapes of the right hand for a top grasp between thumb and three fingers, 20 joints in model order [rad].

They come from an inverse-kinematics design of pad positions and normals at 55 deg tilt: the pads stand 95, 55 and 20 mm
apart, with about 25 mm of free height between the pads and the proximal links.
"""

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

OPEN = np.array([0.811, -0.524, 1.004, -0.809, -0.082, -0.085, 0.278, 0.161, -0.01, 0.0,
                 0.282, 0.337, 0.07, -0.16, 0.052, 0.021, 0.07, -0.209, 0.052, 0.021])  # fmt: skip
GAP_55MM = np.array([1.281, -0.077, 0.178, -1.002, -0.137, -0.085, 0.728, 0.455, -0.01, 0.0,
                     0.672, 0.599, -0.007, -0.16, 0.483, 0.442, -0.007, -0.209, 0.483, 0.442])  # fmt: skip
GAP_20MM = np.array([1.256, 0.081, 0.2, -0.801, -0.032, -0.085, 0.991, 0.468, 0.014, 0.0,
                     1.112, 0.379, 0.051, -0.16, 0.775, 0.549, 0.051, -0.209, 0.775, 0.549])  # fmt: skip
THUMB_PUSH = np.array([0.0, 0.35, 0.25, 0.35])
SQUEEZE = 1.6


def closed(squeeze: float = SQUEEZE) -> Array:
    """Closed shape, (20,): squeeze 0 leaves 55 mm between the pads, 1 leaves 20 mm, more presses further.

    The thumb gets an extra push, as it stands alone against three fingers.
    """
    q = GAP_55MM + squeeze * (GAP_20MM - GAP_55MM)
    q[:4] += max(0.0, squeeze - 0.5) * THUMB_PUSH
    return q


def blend(closing: float, squeeze: float = SQUEEZE) -> Array:
    """Shape between open (0) and closed (1), (20,)."""
    return (1.0 - closing) * OPEN + closing * closed(squeeze)


def closing_of(q_hand: Array, squeeze: float = SQUEEZE) -> float:
    """How far a hand is closed, 0 to 1: projection of its 20 joints on the line from open to closed."""
    line = closed(squeeze) - OPEN
    return float(np.clip((np.asarray(q_hand) - OPEN) @ line / (line @ line), 0.0, 1.0))
