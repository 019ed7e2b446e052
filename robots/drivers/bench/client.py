"""Clients of the bench process: drivers, the operator's hands, the referee. Each holds one socket and no more."""

import socket
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from robots.cell.description import ARM_DOF, SIDE_DOF, CellDescription
from robots.cell.initial import InitialState
from robots.cell.judging import Verdict
from robots.drivers.protocols import (
    BeltReading,
    CameraFrame,
    DriverError,
    EmergencyStopError,
    JointReading,
)
from robots.messages.frames import recv_frame, send_frame

Array = npt.NDArray[np.float64]
TIMEOUT = 60.0


class Channel:
    """Request and reply over one Unix socket."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(TIMEOUT)
        try:
            self._socket.connect(str(path))
        except OSError as error:
            raise DriverError(f"no bench cell listens at {path}: {error}") from error

    def ask(self, op: str, **fields: Any) -> Any:
        """Send one request, from any thread; its result.

        Raises EmergencyStopError, ValueError or DriverError as the bench says.
        """
        try:
            with self._lock:
                send_frame(self._socket, {"op": op, **fields})
                reply = recv_frame(self._socket)
        except (EOFError, OSError) as error:
            raise DriverError(f"the bench cell is gone: {error or 'connection closed'}") from error
        if "error" not in reply:
            return reply["result"]
        kinds = {"emergency_stop": EmergencyStopError, "value": ValueError}
        raise kinds.get(reply["kind"], DriverError)(reply["error"])

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


class _Joints:
    """A range of the cell's joint vector as an arm or hand driver."""

    def __init__(self, rig: "BenchDrivers", start: int, stop: int) -> None:
        self._rig, self._part = rig, slice(start, stop)
        self.joint_names = rig.cell.joint_names[start:stop]

    def read(self) -> JointReading:
        now = self._rig.reading
        return JointReading(now["time_ns"], now["q"][self._part], now["qd"][self._part])

    def command(self, position: Array) -> None:
        if np.shape(position) != (len(self.joint_names),):
            raise ValueError(f"a command is {len(self.joint_names)} joint targets, not shape {np.shape(position)}")
        action = self._rig.pending_action()
        action[self._part] = position
        self._rig.command(action)


class _Camera:
    def __init__(self, rig: "BenchDrivers", name: str, fps: float) -> None:
        self._rig, self.name, self.fps = rig, name, fps

    def read(self) -> CameraFrame:
        frame = self._rig.frames.get(self.name)
        if frame is None:
            frame = self._rig.frames[self.name] = self.capture_as_streamed()
        return frame

    def capture_as_streamed(self) -> CameraFrame:
        return _frame(self._rig.channel.ask("frame", camera=self.name))

    def capture(self, size: tuple[int, int] | None = None) -> CameraFrame:
        camera = self._rig.cell.camera(self.name)
        wanted = size or (camera.height, camera.width)
        return _frame(self._rig.channel.ask("frame", camera=self.name, size=list(wanted)))


class _Belt:
    def __init__(self, rig: "BenchDrivers") -> None:
        self._rig = rig

    def read(self) -> BeltReading:
        return BeltReading(self._rig.reading["time_ns"], self._rig.reading["belt_speed"])

    def command(self, speed: float) -> None:
        self._rig.channel.ask("belt", speed=speed)


class BenchDrivers:
    """`CellDrivers` of the bench. Commands are kept until `tick` sends them; readings are those of the last tick."""

    def __init__(self, path: Path, cell: CellDescription) -> None:
        self.cell, self.channel = cell, Channel(path)
        self.reading: dict[str, Any] = self.channel.ask("read")
        self.frames: dict[str, CameraFrame] = {}
        self._action: Array | None = None
        starts = {"right": 0, "left": SIDE_DOF}
        self.arms = {side: _Joints(self, at, at + ARM_DOF) for side, at in starts.items()}
        self.hands = {side: _Joints(self, at + ARM_DOF, at + SIDE_DOF) for side, at in starts.items()}
        self.cameras = {c.name: _Camera(self, c.name, c.fps) for c in cell.cameras}
        self.belt = _Belt(self)

    def stream(self, cameras: Sequence[str], *, image_size: int = 256, fps: float | None = None) -> None:
        """Let cameras send frames with the ticks: policy views square at `image_size`, at `fps` (None: as built)."""
        self.channel.ask("configure", streams=list(cameras), image_size=image_size, fps=fps)
        for camera in self.cameras.values():
            camera.fps = fps or self.cell.camera(camera.name).fps
        self.frames.clear()

    def refresh(self) -> None:
        """Read joints and belt without a tick, and forget old frames; needed after the operator changed the scene."""
        self.reading = self.channel.ask("read")
        self._action = None
        self.frames.clear()

    def tick(self) -> int:
        """Send what was commanded and advance by 20 ms; number of the tick reached."""
        action, self._action = self._action, None
        self.reading = self.channel.ask("tick", action=action)
        for name, raw in self.reading.pop("frames").items():
            self.frames[name] = _frame(raw)
        return int(self.reading["tick"])

    def state(self) -> Array:
        """Measured joints of the last tick, (54,) [rad]."""
        return np.array(self.reading["q"])

    def pending_action(self) -> Array:
        """What would be commanded at the next tick; measured joints where nothing was, (54,) [rad]."""
        return self.state() if self._action is None else self._action.copy()

    def command(self, action: Array) -> None:
        """Joint targets (54,) [rad] for the next tick; raises EmergencyStopError."""
        if self.is_stopped:
            raise EmergencyStopError("the emergency stop is latched; reset it before commanding")
        self._action = np.array(action, float)

    def stop(self) -> None:
        """Latch the emergency stop."""
        self.channel.ask("stop")
        self.refresh()

    def reset_stop(self) -> None:
        """Release the emergency stop."""
        self.channel.ask("reset_stop")
        self.refresh()

    @property
    def is_stopped(self) -> bool:
        """True while the emergency stop is latched, as of the last reading."""
        return bool(self.reading["stopped"])

    def close(self) -> None:
        """Close the socket."""
        self.channel.close()


class OperatorHands:
    """What the person at the cell does by hand."""

    def __init__(self, path: Path) -> None:
        self._channel = Channel(path)

    def place(self, initial: InitialState) -> None:
        """Put an object on the running belt, the robot at home, and start a trial that the referee watches."""
        self._channel.ask("place", initial=initial.to_dict())

    def clear(self) -> None:
        """Take the object away and stop the belt."""
        self._channel.ask("clear")

    def set_light(self, light: str) -> None:
        """`white` or `red`."""
        self._channel.ask("light", light=light)

    def set_belt_speed(self, speed: float) -> None:
        """Turn the knob [m/s]."""
        self._channel.ask("belt", speed=speed)

    def stop(self) -> None:
        """Press the emergency stop; works from any thread, at any time."""
        self._channel.ask("stop")

    def reset_stop(self) -> None:
        """Release the emergency stop."""
        self._channel.ask("reset_stop")

    def put_board(
        self, where: str, position: Sequence[float] = (0, 0, 0), quat_wxyz: Sequence[float] = (1, 0, 0, 0)
    ) -> None:
        """Calibration board to the `world`, onto the `right_hand` (pose in the wrist frame), or `away`."""
        self._channel.ask(
            "board", where=where, position=list(map(float, position)), quat_wxyz=list(map(float, quat_wxyz))
        )

    def close(self) -> None:
        """Close the socket."""
        self._channel.close()


class Referee:
    """Sees the truth of the bench and proposes outcomes."""

    def __init__(self, path: Path) -> None:
        self._channel = Channel(path)

    def verdict(self) -> Verdict:
        """Proposed outcome of the trial so far."""
        raw = self._channel.ask("verdict")
        raw.pop("is_over")
        return Verdict(**raw)

    def is_over(self) -> bool:
        """True when nothing can change the outcome any more."""
        return self.progress()[0]

    def progress(self) -> tuple[bool, dict[str, float]]:
        """Whether nothing can change the outcome any more, and each stage reached with its time [s] since `place`."""
        raw = self._channel.ask("progress")
        return bool(raw["is_over"]), raw["stages"]

    def truth(self) -> dict[str, Any]:
        """Hidden parameters and object pose: for tests."""
        return self._channel.ask("truth")

    def close(self) -> None:
        """Close the socket."""
        self._channel.close()


def _frame(raw: dict[str, Any]) -> CameraFrame:
    return CameraFrame(raw["time_ns"], raw["rgb"], raw["depth"])
