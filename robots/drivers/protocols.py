"""The driver interfaces. A program written against them runs on the bench cell and on hardware.

Reading never blocks for long and is always allowed. A command takes effect at the next tick of the 50 Hz cycle and is
refused with `EmergencyStopError` while an emergency stop is latched.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


class DriverError(RuntimeError):
    """A device refused or failed; the message says which and why."""


class EmergencyStopError(DriverError):
    """A command came while the emergency stop is latched."""


@dataclass(frozen=True)
class JointReading:
    """Measured joints at a moment: positions [rad], velocities [rad/s]."""

    time_ns: int
    position: Array
    velocity: Array


@dataclass(frozen=True)
class CameraFrame:
    """An image (height, width, 3) uint8 and, from a depth camera, distances (height, width) [m] aligned with it."""

    time_ns: int
    rgb: npt.NDArray[np.uint8]
    depth: npt.NDArray[np.float32] | None = None


@dataclass(frozen=True)
class BeltReading:
    """Speed of the belt towards -y [m/s]."""

    time_ns: int
    speed: float


class ArmDriver(Protocol):
    """Seven joints under position control."""

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names in the order of the joint vectors."""
        ...

    def read(self) -> JointReading:
        """Newest measured joints."""
        ...

    def command(self, position: Array) -> None:
        """Joint targets (7,) [rad] for the next tick; raises EmergencyStopError, or ValueError outside the ranges."""
        ...


class HandDriver(Protocol):
    """Twenty joints under position control."""

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names in the order of the joint vectors."""
        ...

    def read(self) -> JointReading:
        """Newest measured joints."""
        ...

    def command(self, position: Array) -> None:
        """Joint targets (20,) [rad] for the next tick; raises EmergencyStopError, or ValueError outside the ranges."""
        ...


class CameraDriver(Protocol):
    """A colour or RGB-D camera."""

    @property
    def name(self) -> str:
        """Name in the cell's description."""
        ...

    @property
    def fps(self) -> float:
        """New frames a second."""
        ...

    def read(self) -> CameraFrame:
        """Newest frame of the running stream."""
        ...

    def capture(self, size: tuple[int, int] | None = None) -> CameraFrame:
        """A still now, in the native image size or in `size` (height, width)."""
        ...


class BeltDriver(Protocol):
    """A conveyor belt."""

    def read(self) -> BeltReading:
        """Newest measured speed."""
        ...

    def command(self, speed: float) -> None:
        """Target speed [m/s]; raises EmergencyStopError, or ValueError outside the range."""
        ...


class CellDrivers(Protocol):
    """All drivers of a cell and its 50 Hz clock."""

    @property
    def arms(self) -> Mapping[str, ArmDriver]:
        """`right` and `left`."""
        ...

    @property
    def hands(self) -> Mapping[str, HandDriver]:
        """`right` and `left`."""
        ...

    @property
    def cameras(self) -> Mapping[str, CameraDriver]:
        """By the names in the cell's description."""
        ...

    @property
    def belt(self) -> BeltDriver:
        """The belt."""
        ...

    def tick(self) -> int:
        """Send what was commanded and wait for the next 20 ms (a fast bench steps at once); number of the tick."""
        ...

    def state(self) -> Array:
        """Measured joints of the whole cell, (54,) [rad]: right arm, right hand, left arm, left hand."""
        ...

    def command(self, action: Array) -> None:
        """Joint targets of the whole cell, (54,) [rad]."""
        ...

    def stop(self) -> None:
        """Emergency stop: holds the arms where they are, stops the belt, latches."""
        ...

    def reset_stop(self) -> None:
        """Release the latch."""
        ...

    @property
    def is_stopped(self) -> bool:
        """True while the emergency stop is latched."""
        ...
