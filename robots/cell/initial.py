"""How an episode starts, under which conditions, and what the policy is told. Pure data."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from robots.cell.description import CellDescription, ObjectDescription, Side, Vec3
from robots.cell.world import WorldParameters, vec3

Light = Literal["white", "red"]
LIGHT_COLORS: dict[str, Vec3] = {"white": (1.0, 1.0, 1.0), "red": (1.0, 0.35, 0.30)}
REACH_TIME = (2.0, 2.6)
ACROSS_RANGE = 0.035
ALONG_RANGE = 0.05
BELT_RAISE_RANGE = 0.004


@dataclass(frozen=True)
class Appearance:
    """What randomisation may change without changing the task.

    Attributes:
        object_color: RGB of the object; None keeps the described colour.
        light_color: RGB factors of the light. light_intensity: factor. light_shift: of the main lamp [m].
    """

    object_color: Vec3 | None = None
    light_color: Vec3 = (1.0, 1.0, 1.0)
    light_intensity: float = 1.0
    light_shift: Vec3 = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class InitialState:
    """Start of one episode.

    Attributes:
        object: name of the object. mass: [kg]; 0 takes the measured mass.
        position: centre of the object in the belt frame [m]: axes as the world's, origin in the middle of the belt's
            top surface. So the same start can be laid out in every world.
        yaw: [rad]. belt_speed: towards -y [m/s]. bin: where the object belongs. seed: of everything random after.
        belt_raise: how much the belt stands above its layout [m].
    """

    object: str
    position: Vec3
    yaw: float = 0.0
    belt_speed: float = 0.1
    bin: Side = "left"
    seed: int = 0
    mass: float = 0.0
    belt_raise: float = 0.0
    appearance: Appearance = field(default_factory=Appearance)

    def __post_init__(self) -> None:
        if self.bin not in ("left", "right"):
            raise ValueError(f"initial.bin must be 'left' or 'right', not {self.bin!r}")
        numbers = (*self.position, self.yaw, self.belt_speed, self.mass, self.belt_raise)
        if len(self.position) != 3 or not np.all(np.isfinite(numbers)):
            raise ValueError(f"initial: position must be 3 numbers and all numbers finite, not {self}")
        if self.mass < 0 or self.belt_speed < 0:
            raise ValueError(f"initial: mass and belt_speed must be >= 0, not {self.mass} and {self.belt_speed}")

    def to_dict(self) -> dict[str, Any]:
        """JSON-able dict; `from_dict` gives back an equal start."""
        return asdict(self)

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> "InitialState":
        """Parse `to_dict`; raises ValueError for unknown or missing fields."""
        try:
            known: dict[str, Any] = {k: _plain(v) for k, v in raw.items() if k != "appearance"}
            look: dict[str, Any] = {k: _plain(v) for k, v in (raw.get("appearance") or {}).items()}
            return cls(**known, appearance=Appearance(**look))
        except TypeError as error:
            raise ValueError(f"initial state: {error}") from error


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


@dataclass(frozen=True)
class Conditions:
    """Conditions of a trial: light, belt speed [m/s] and the objects to draw from."""

    light: Light = "white"
    belt_speed: float = 0.1
    objects: tuple[str, ...] = ("box", "can", "bottle", "ball")

    def __post_init__(self) -> None:
        if self.light not in LIGHT_COLORS:
            raise ValueError(f"conditions.light must be one of {sorted(LIGHT_COLORS)}, not {self.light!r}")
        if not self.objects:
            raise ValueError("conditions.objects must name at least one object")


def belt_origin(cell: CellDescription, world: WorldParameters) -> np.ndarray:
    """Origin of the belt frame in the world, (3,) [m]."""
    return np.asarray(cell.belt.center) + world.layout.belt_offset


def instruction(object_name: str, bin_side: str) -> str:
    """The text a policy gets."""
    return f"pick up the {object_name} and place it in the {bin_side} bin"


def sample_initial_state(
    cell: CellDescription,
    rng: np.random.Generator,
    *,
    objects: tuple[str, ...] | None = None,
    belt_speed: tuple[float, float] = (0.05, 0.20),
    bin_side: Side | None = None,
    seed: int | None = None,
    raise_belt: bool = False,
) -> InitialState:
    """Draw a start from which the object reaches the pick area 2.0 to 2.6 s later.

    Across the belt within 35 mm of its middle, along it within 50 mm at the pick; any yaw; either bin.
    """
    name = str(rng.choice(objects or cell.demonstrated_objects))
    thing = cell.object(name)
    speed = float(rng.uniform(*belt_speed))
    along = (
        cell.pick_y - cell.belt.center[1] + rng.uniform(-ALONG_RANGE, ALONG_RANGE) + speed * rng.uniform(*REACH_TIME)
    )
    side: Side = bin_side or ("left" if rng.integers(2) == 0 else "right")
    return InitialState(
        object=name,
        position=(float(rng.uniform(-ACROSS_RANGE, ACROSS_RANGE)), float(along), thing.half_height),
        yaw=float(rng.uniform(-math.pi, math.pi)),
        belt_speed=speed,
        bin=side,
        seed=int(rng.integers(2**31)) if seed is None else seed,
        mass=thing.mass,
        belt_raise=float(rng.uniform(-BELT_RAISE_RANGE, BELT_RAISE_RANGE)) if raise_belt else 0.0,
    )


def trial_initial_state(
    cell: CellDescription, *, object_name: str, belt_speed: float, bin_side: Side, seed: int
) -> InitialState:
    """The start that a trial's seed draws: the same for every policy, on the cell and in a simulated world alike."""
    return sample_initial_state(
        cell,
        np.random.default_rng(seed),
        objects=(object_name,),
        belt_speed=(belt_speed, belt_speed),
        bin_side=bin_side,
        seed=seed % 2**31,
    )


def sample_appearance(thing: ObjectDescription, rng: np.random.Generator, strength: float = 1.0) -> Appearance:
    """Draw object colour and light around the described ones; strength 0 changes nothing."""
    color = np.clip(np.asarray(thing.color[:3]) + strength * rng.normal(0, 0.08, 3), 0.05, 1.0)
    light = np.clip(1.0 + strength * rng.normal(0, 0.06, 3), 0.5, 1.5)
    return Appearance(
        object_color=vec3(color),
        light_color=vec3(light),
        light_intensity=float(np.exp(strength * rng.normal(0, 0.15))),
        light_shift=vec3(strength * rng.normal(0, [0.3, 0.3, 0.1])),
    )
