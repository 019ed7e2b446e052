"""What the agent and the lab say to each other over one WebSocket: typed JSON messages and binary camera frames.

A message is a JSON object with `type`, `v` (protocol version) and the fields of the dataclass registered for that type.
A frame is 1 byte camera index, 8 bytes big-endian time in nanoseconds, then a JPEG.
"""

import dataclasses
import json
import struct
from dataclasses import dataclass, field
from typing import Any, Literal

from robots.config import from_json, to_json
from robots.errors import ConfigError

PROTOCOL_VERSION = 1
CAMERA_VIEWS = ("head", "right_wrist", "left_wrist")
FAILURE_MODES = ("missed_pick", "dropped", "failed_release", "drift", "wrong_bin", "collision", "timeout")
STAGES = ("approach", "contact", "lift", "carry", "release", "placed")
MAX_JPEG_BYTES = 2 * 1024 * 1024
_FRAME_HEADER = struct.Struct(">BQ")


class ProtocolError(ValueError):
    """A message or frame that this protocol does not know; the text says what would have been right."""


@dataclass(frozen=True)
class Hello:
    """Agent to lab, first of all: who runs here, what it is doing, and which trials wait in its spool."""

    software: str
    state: Literal["idle", "busy", "stopped"] = "idle"
    trial: str | None = None
    spooled: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Heartbeat:
    """Agent to lab, every few seconds."""

    state: Literal["idle", "busy", "stopped"]
    trial: str | None = None
    spooled: int = 0


@dataclass(frozen=True)
class TrialEvent:
    """Agent to lab: one thing that happened in a trial. `event` is a client UUID, `sequence` counts from 1."""

    trial: str
    event: str
    sequence: int
    kind: Literal["accepted", "loading", "started", "stage", "finished", "failed", "cancelled"]
    time_s: float = 0.0
    payload: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Joints:
    """Agent to lab: measured joint positions [rad]; only the newest counts."""

    time_s: float
    position: list[float]
    trial: str | None = None


@dataclass(frozen=True)
class StopState:
    """Agent to lab: whether the software stop is engaged on the robot, after it acted."""

    pressed: bool
    by: str = ""


@dataclass(frozen=True)
class Welcome:
    """Lab to agent, after its hello."""

    cell: str
    embodiment: str


@dataclass(frozen=True)
class CheckpointRef:
    """A checkpoint to download: a manifest at `url` (relative to the lab) lists its files with their SHA-256."""

    sha256: str
    url: str


@dataclass(frozen=True)
class TrialStart:
    """Lab to agent: run this trial. Sent again after a reconnection; a known `trial` is not run twice."""

    trial: str
    code: str
    checkpoint: CheckpointRef
    condition: str
    object: str
    belt_speed: float
    bin: Literal["left", "right"]
    light: Literal["white", "red"]
    instruction: str
    seed: int
    time_limit_s: float

    def __post_init__(self) -> None:
        if self.time_limit_s <= 0:
            raise ConfigError(f"must be positive, got {self.time_limit_s}", "time_limit_s")
        if self.belt_speed < 0:
            raise ConfigError(f"must not be negative, got {self.belt_speed}", "belt_speed")


@dataclass(frozen=True)
class TrialPrepare:
    """Lab to agent: this checkpoint is likely next; fetch and warm it while there is time."""

    checkpoint: CheckpointRef


@dataclass(frozen=True)
class TrialCancel:
    """Lab to agent: end this trial now."""

    trial: str
    reason: str


@dataclass(frozen=True)
class Stop:
    """Lab to agent: engage (`pressed`) or release the software stop; `by` is who asked."""

    pressed: bool
    by: str = ""


AgentMessage = Hello | Heartbeat | TrialEvent | Joints | StopState
LabMessage = Welcome | TrialStart | TrialPrepare | TrialCancel | Stop

_TYPES: dict[str, type] = {
    "hello": Hello,
    "heartbeat": Heartbeat,
    "trial.event": TrialEvent,
    "joints": Joints,
    "stop.state": StopState,
    "welcome": Welcome,
    "trial.start": TrialStart,
    "trial.prepare": TrialPrepare,
    "trial.cancel": TrialCancel,
    "stop": Stop,
}
_NAMES = {cls: name for name, cls in _TYPES.items()}


def dump_message(message: AgentMessage | LabMessage) -> dict[str, Any]:
    """A message as a JSON-able dict with its type and the protocol version."""
    return {"type": _NAMES[type(message)], "v": PROTOCOL_VERSION, **to_json(message)}


def dump_text(message: AgentMessage | LabMessage) -> str:
    """A message as JSON text."""
    return json.dumps(dump_message(message))


def load_message(text: str | bytes) -> AgentMessage | LabMessage:
    """The message in a JSON text.

    Raises:
        ProtocolError: no JSON object, another protocol version, an unknown type, or a field that is wrong.
    """
    try:
        values = json.loads(text)
    except ValueError as error:
        raise ProtocolError(f"message is no JSON: {error}") from error
    if not isinstance(values, dict):
        raise ProtocolError("message is no JSON object")
    if values.get("v") != PROTOCOL_VERSION:
        raise ProtocolError(f"protocol version {values.get('v')!r}, this side speaks {PROTOCOL_VERSION}")
    cls = _TYPES.get(str(values.get("type")))
    if cls is None:
        raise ProtocolError(f"unknown message type {values.get('type')!r}; known: {', '.join(_TYPES)}")
    try:
        message: AgentMessage | LabMessage = from_json(
            cls, {name: value for name, value in values.items() if name not in ("type", "v")}
        )
    except ConfigError as error:
        raise ProtocolError(f"{values['type']}: {error}") from error
    return message


@dataclass(frozen=True)
class CameraFrame:
    """One JPEG of camera `camera` (index into CAMERA_VIEWS), taken at `time_ns`."""

    camera: int
    time_ns: int
    jpeg: bytes

    def pack(self) -> bytes:
        return _FRAME_HEADER.pack(self.camera, self.time_ns) + self.jpeg

    @classmethod
    def unpack(cls, data: bytes) -> "CameraFrame":
        """The frame in a binary message.

        Raises:
            ProtocolError: too short, too large, an unknown camera, or something that is no JPEG.
        """
        if len(data) <= _FRAME_HEADER.size:
            raise ProtocolError(f"frame of {len(data)} bytes is shorter than its header")
        camera, time_ns = _FRAME_HEADER.unpack_from(data)
        jpeg = data[_FRAME_HEADER.size :]
        if camera >= len(CAMERA_VIEWS):
            raise ProtocolError(f"frame of camera {camera}; known: 0 to {len(CAMERA_VIEWS) - 1}")
        if len(jpeg) > MAX_JPEG_BYTES:
            raise ProtocolError(f"frame of {len(jpeg)} bytes is over the limit of {MAX_JPEG_BYTES}")
        if not jpeg.startswith(b"\xff\xd8"):
            raise ProtocolError("frame is no JPEG")
        return cls(camera, time_ns, jpeg)


@dataclass(frozen=True)
class Proposal:
    """What the referee proposes after a trial; the operator confirms or corrects it.

    `invalid_reason` is set when the trial should not count (policy server crashed, stop pressed, agent restarted).
    """

    success: bool = False
    failure_mode: str = ""
    furthest_stage: str = ""
    time_s: float = 0.0
    latency_ms: float | None = None
    invalid_reason: str = ""

    def __post_init__(self) -> None:
        if self.failure_mode and self.failure_mode not in FAILURE_MODES:
            raise ConfigError(f"must be one of {', '.join(FAILURE_MODES)}, got {self.failure_mode!r}", "failure_mode")
        if self.furthest_stage and self.furthest_stage not in STAGES:
            raise ConfigError(f"must be one of {', '.join(STAGES)}, got {self.furthest_stage!r}", "furthest_stage")
        if self.success and self.failure_mode:
            raise ConfigError("a success has no failure mode", "failure_mode")
        if self.time_s < 0:
            raise ConfigError(f"must not be negative, got {self.time_s}", "time_s")

    def as_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)
