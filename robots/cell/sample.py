"""`SceneSample`: the facts about one tick of a trial. Pure data, no simulator."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SceneSample:
    """What a judge looks at, once a tick. Positions [m] in the world, speeds [m/s], forces [N].

    `object_height` is the object's lowest possible bottom above the belt: centre minus half height minus belt top.
    """

    time: float
    object_position: Array
    object_height: float
    object_speed: float
    tcp_position: Array
    tcp_speed: float
    is_touching: bool
    obstacle_force: float
