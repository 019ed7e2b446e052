"""One demonstration at a cell, through its drivers: look, plan, move, and keep what was seen and commanded."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robots.cell.description import CONTROL_DT, CellDescription, Side
from robots.cell.kinematics import ArmKinematics
from robots.demonstrator.motion import SeenObject
from robots.demonstrator.person import Demonstrator
from robots.drivers.protocols import CellDrivers
from robots.perception.sighting import see_object

GRACE_TICKS = 40
CHECK_EVERY = 5


@dataclass(frozen=True)
class Recording:
    """One demonstration of n ticks.

    Attributes:
        state, action: measured joints and commanded targets, (n, 54) float32 [rad].
        images: the frames of each view, (m, height, width, 3). frame_index: (n,), the newest frame at each tick.
        phases: tick range [start, end) of each phase. seen: what the demonstrator saw at the start.
        corrected: whether the first reach missed and was corrected.
    """

    state: npt.NDArray[np.float32]
    action: npt.NDArray[np.float32]
    images: dict[str, npt.NDArray[np.uint8]]
    frame_index: dict[str, npt.NDArray[np.int64]]
    phases: dict[str, tuple[int, int]]
    seen: SeenObject
    corrected: bool


class _Frames:
    """Keeps each new frame once, and for every tick the number of the newest."""

    def __init__(self, drivers: CellDrivers, views: Sequence[str]) -> None:
        self._drivers = drivers
        self._last: dict[str, int] = dict.fromkeys(views, -1)
        self.images: dict[str, list[npt.NDArray[np.uint8]]] = {view: [] for view in views}
        self.index: dict[str, list[int]] = {view: [] for view in views}

    def take(self) -> None:
        for view, images in self.images.items():
            frame = self._drivers.cameras[view].read()
            if frame.time_ns != self._last[view]:
                self._last[view] = frame.time_ns
                images.append(frame.rgb)
            self.index[view].append(len(images) - 1)


def look(drivers: CellDrivers, cell: CellDescription, object_name: str) -> SeenObject:
    """What a demonstrator sees before moving: the object's pose, the belt's height and speed.

    Raises:
        NothingSeenError: no such object stands on the belt.
    """
    thing = cell.object(object_name)
    sighting = see_object(drivers.cameras["external"].capture(), cell, thing)
    return SeenObject(thing, sighting.position, sighting.yaw, drivers.belt.read().speed, sighting.belt_top)


def demonstrate(
    drivers: CellDrivers,
    cell: CellDescription,
    kinematics: ArmKinematics,
    object_name: str,
    bin_side: Side,
    rng: np.random.Generator,
    *,
    views: Sequence[str] = (),
    is_over: Callable[[], bool] = lambda: False,
) -> Recording:
    """Pick the object that lies on the belt and place it in a bin.

    Args:
        rng: draws the style of this demonstration. views: cameras to record.
        is_over: asked from the release on; ends the demonstration early.
    """
    seen = look(drivers, cell, object_name)
    person = Demonstrator(cell, kinematics, seen, bin_side, rng)
    released = round(person.motion.timing.release[1] / CONTROL_DT)
    frames, states, actions = _Frames(drivers, views), [], []
    for tick in range(person.ticks + GRACE_TICKS):
        state = drivers.state()
        action = person.action(tick, state)
        frames.take()
        states.append(state)
        actions.append(action)
        drivers.command(action)
        drivers.tick()
        if tick > released and tick % CHECK_EVERY == 0 and is_over():
            break
    return Recording(
        np.array(states, np.float32),
        np.array(actions, np.float32),
        {view: np.array(images) for view, images in frames.images.items()},
        {view: np.array(index) for view, index in frames.index.items()},
        person.phases(len(states)),
        seen,
        person.style.correction is not None,
    )
