"""Frozen dataclasses that describe a cell: arms, hands, cameras, belt, bins, objects. Pure data, no simulator.

Units are SI and radians. The world frame has x away from the robots, y to the left and z up; the belt runs along -y.
"""

import math
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from robots.cell.lens import Distortion

Vec3 = tuple[float, float, float]
Quat = tuple[float, float, float, float]
Side = Literal["left", "right"]

CONTROL_HZ = 50
CONTROL_DT = 1.0 / CONTROL_HZ
PHYSICS_DT = 0.002
STEPS_PER_TICK = round(CONTROL_DT / PHYSICS_DT)

FINGERS = ("thumb", "index", "middle", "ring", "pinky")
ARM_DOF = 7
HAND_DOF = 20
SIDE_DOF = ARM_DOF + HAND_DOF


@dataclass(frozen=True)
class ArmJoint:
    """One joint and the link it moves.

    Attributes:
        origin, quat_wxyz: pose of the link frame in the previous link [m].
        axis: letter of the joint axis in the link frame, `y` or `z`.
        lower, upper: range [rad]. effort: limit [N m]. velocity: limit [rad/s].
        armature, mass, com, inertia: reflected rotor inertia [kg m2], link mass [kg], centre [m], diagonal [kg m2].
        kp, kv: gains of the position controller [N m/rad], [N m s/rad].
        capsule: end point [m] of the capsule from the link origin that stands for the shell, and its radius.
    """

    origin: Vec3
    quat_wxyz: Quat
    axis: Literal["y", "z"]
    lower: float
    upper: float
    effort: float
    velocity: float
    armature: float
    mass: float
    com: Vec3
    inertia: Vec3
    kp: float
    kv: float
    capsule: tuple[float, float, float, float]


@dataclass(frozen=True)
class ArmDescription:
    """A 7-joint arm with a hand on its flange; `base` is the base position in the world [m]."""

    base: Vec3
    joints: tuple[ArmJoint, ...]
    flange: Vec3 = (0.0, 0.0, 0.124)
    hand_mount: Vec3 = (0.0, 0.0, 0.136)
    hand_mount_quat_wxyz: Quat = (0.0, math.sqrt(0.5), -math.sqrt(0.5), 0.0)

    def __post_init__(self) -> None:
        if len(self.joints) != ARM_DOF:
            raise ValueError(f"an arm has {ARM_DOF} joints, not {len(self.joints)}")


@dataclass(frozen=True)
class HandDescription:
    """A Wuji Hand 2. `tcp` is the middle of the grasp in the wrist frame [m], `tilt` the angle from the palm's
    normal to the approach direction [rad]: the TCP frame has z = approach and x = closing direction of the fingers.
    """

    side: Side
    tcp: Vec3 = (0.0129, 0.0383, -0.1229)
    tilt: float = math.radians(55.0)


@dataclass(frozen=True)
class CameraDescription:
    """A camera as designed (CAD mount, the data sheet's lens).

    Attributes:
        parent: `world`, `right_wrist` or `left_wrist`: the frame of `eye` and `look_at` [m].
        focal_px: focal length in pixels of the native image, `width` x `height`. up: image up direction in the parent.
        has_depth: an RGB-D camera. is_policy_view: one of the images a policy sees.
        distortion: k1..k4 of a fisheye, see `robots.cell.lens`; None for a pinhole.
    """

    name: str
    parent: Literal["world", "right_wrist", "left_wrist"]
    eye: Vec3
    look_at: Vec3
    focal_px: float
    width: int
    height: int
    up: Vec3 = (0.0, 0.0, 1.0)
    has_depth: bool = False
    is_policy_view: bool = True
    fps: float = 25.0
    distortion: Distortion | None = None

    def __post_init__(self) -> None:
        if self.distortion is not None and self.has_depth:
            raise ValueError(f"camera {self.name}: a fisheye has no depth; describe an RGB-D camera as a pinhole")
        if self.focal_px <= 0 or self.width <= 0 or self.height <= 0:
            raise ValueError(f"camera {self.name}: focal length and image size must be positive")


@dataclass(frozen=True)
class BeltDescription:
    """A belt along y that runs towards -y; `center` is the middle of its top surface [m]."""

    center: Vec3
    half_width: float
    half_length: float
    half_thickness: float = 0.02
    max_speed: float = 0.25


@dataclass(frozen=True)
class BinDescription:
    """An open box on the floor: centre (x, y), inner half extents (x, y) and height of the walls [m]."""

    center: tuple[float, float]
    half_extents: tuple[float, float] = (0.09, 0.12)
    height: float = 0.12
    color: Quat = (0.5, 0.5, 0.5, 1.0)
    drop_yaw: float = 0.0


@dataclass(frozen=True)
class ObjectDescription:
    """An object: CAD half sizes [m] (box: x y z; cylinder: radius, half height; ball: radius), measured mass [kg].

    `grasp_depth` is how far below the top the finger pads close [m]; a novel object is never demonstrated.
    """

    name: str
    shape: Literal["box", "cylinder", "ball"]
    size: tuple[float, ...]
    mass: float
    color: Quat
    grasp_depth: float = 0.024
    is_novel: bool = False

    def __post_init__(self) -> None:
        wanted = {"box": 3, "cylinder": 2, "ball": 1}[self.shape]
        if len(self.size) != wanted or min(self.size) <= 0:
            raise ValueError(f"object {self.name}: a {self.shape} has {wanted} positive half sizes, not {self.size}")
        if self.mass <= 0:
            raise ValueError(f"object {self.name}: mass must be positive, not {self.mass}")

    @property
    def half_height(self) -> float:
        """Half of the height when standing upright [m]."""
        return self.size[-1]

    @property
    def is_round(self) -> bool:
        """True where turning about the vertical changes nothing."""
        return self.shape != "box"

    @property
    def inertia_per_mass(self) -> Vec3:
        """Diagonal of the inertia of the solid divided by its mass [m2]."""
        if self.shape == "box":
            x2, y2, z2 = (4 * h * h / 12 for h in self.size)
            return (y2 + z2, x2 + z2, x2 + y2)
        if self.shape == "cylinder":
            r, h = self.size
            side = r * r / 4 + h * h / 3
            return (side, side, r * r / 2)
        r2 = 0.4 * self.size[0] ** 2
        return (r2, r2, r2)


@dataclass(frozen=True)
class CellDescription:
    """Everything that is fixed about a cell. `home` is the TCP position at the start [m], `q_home` its arm posture."""

    name: str
    right_arm: ArmDescription
    left_arm: ArmDescription
    right_hand: HandDescription
    left_hand: HandDescription
    cameras: tuple[CameraDescription, ...]
    belt: BeltDescription
    left_bin: BinDescription
    right_bin: BinDescription
    objects: tuple[ObjectDescription, ...]
    home: Vec3
    q_home: tuple[float, ...]
    q_left_hold: tuple[float, ...]
    hand_open: tuple[float, ...]
    left_hand_hold: tuple[float, ...]
    pick_y: float

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the 54 entries of state and action: right arm, right hand, left arm, left hand."""
        return tuple(name for side in ("right", "left") for name in self.side_joint_names(side))

    def side_joint_names(self, side: str) -> tuple[str, ...]:
        """The 27 names of one side: 7 arm joints, then 4 joints of each finger."""
        arm = tuple(f"{side}_arm_joint{i}" for i in range(1, ARM_DOF + 1))
        return arm + tuple(f"{side}_hand_{finger}_S{i}" for finger in FINGERS for i in range(1, 5))

    @property
    def home_state(self) -> npt.NDArray[np.float64]:
        """Joint positions at the start of an episode, (54,) [rad]."""
        return np.array([*self.q_home, *self.hand_open, *self.q_left_hold, *self.left_hand_hold])

    @property
    def policy_views(self) -> tuple[str, ...]:
        """Names of the cameras a policy sees."""
        return tuple(c.name for c in self.cameras if c.is_policy_view)

    def camera(self, name: str) -> CameraDescription:
        """The camera of that name; raises KeyError with the legal names."""
        return _by_name(self.cameras, name, "camera")

    def object(self, name: str) -> ObjectDescription:
        """The object of that name; raises KeyError with the legal names."""
        return _by_name(self.objects, name, "object")

    def bin(self, side: str) -> BinDescription:
        """The `left` or the `right` bin."""
        if side not in ("left", "right"):
            raise KeyError(f"no bin {side!r}; there are 'left' and 'right'")
        return self.left_bin if side == "left" else self.right_bin

    @property
    def demonstrated_objects(self) -> tuple[str, ...]:
        """Names of the objects that appear in demonstrations."""
        return tuple(o.name for o in self.objects if not o.is_novel)

    @property
    def novel_objects(self) -> tuple[str, ...]:
        """Names of the objects kept for shifted trials."""
        return tuple(o.name for o in self.objects if o.is_novel)


class _Named(Protocol):
    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=_Named)


def _by_name(items: tuple[T, ...], name: str, kind: str) -> T:
    for item in items:
        if item.name == name:
            return item
    raise KeyError(f"no {kind} {name!r}; the cell has {', '.join(i.name for i in items)}")
