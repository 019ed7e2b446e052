"""`WorldParameters`: what may differ between a simulated cell and its description, in three parts.

The nominal world is the description itself: CAD mounts, tape-measured layout, calculated gains. A grounded world holds
values measured on a cell. Each part says on its own whether it is grounded.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from robots.cell.description import ARM_DOF, CameraDescription, CellDescription, Vec3
from robots.cell.lens import Distortion, tangents

ZERO: Vec3 = (0.0, 0.0, 0.0)
ONES = (1.0,) * ARM_DOF
NO_OFFSET: Distortion = (0.0, 0.0, 0.0, 0.0)
MAX_DELAY = 0.1
WIDEST = math.radians(150.0)  # a pinhole wider than this spends its pixels on the rim


def vec3(values: npt.ArrayLike) -> Vec3:
    """Three numbers as a plain tuple."""
    x, y, z = (float(v) for v in np.asarray(values, float))
    return x, y, z


def _check_finite(where: str, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float | tuple):
            continue
        if not np.all(np.isfinite(value)):
            raise ValueError(f"{where}.{name} must be finite, not {value}")


@dataclass(frozen=True)
class CameraParameters:
    """How a camera differs from its description.

    Attributes:
        focal_scale: true focal length over the described one.
        offset: shift of the eye in the parent frame [m].
        rotvec: rotation of the camera about its eye, a rotation vector in the parent frame [rad].
        blur_sigma_px: Gaussian blur in pixels of the native image.
        distortion_offset: true k1..k4 of a fisheye minus the described ones.
    """

    focal_scale: float = 1.0
    offset: Vec3 = ZERO
    rotvec: Vec3 = ZERO
    blur_sigma_px: float = 0.0
    distortion_offset: Distortion = NO_OFFSET

    def __post_init__(self) -> None:
        _check_finite("camera", self.__dict__)
        if len(self.distortion_offset) != 4:
            raise ValueError(f"camera: distortion_offset must be 4 numbers, not {self.distortion_offset}")
        if not self.focal_scale > 0 or self.blur_sigma_px < 0:
            raise ValueError(f"camera: focal_scale must be > 0 and blur_sigma_px >= 0, not {self}")


@dataclass(frozen=True)
class VisualParameters:
    """Cameras by name (absent ones are as described) and the light of the room."""

    cameras: Mapping[str, CameraParameters] = field(default_factory=dict)
    light_color: Vec3 = (1.0, 1.0, 1.0)
    light_intensity: float = 1.0
    grounded: bool = False

    def camera(self, name: str) -> CameraParameters:
        """Parameters of one camera."""
        return self.cameras.get(name, CameraParameters())


@dataclass(frozen=True)
class LayoutParameters:
    """Shifts of the belt, of each bin and of the arm bases from the description [m]."""

    belt_offset: Vec3 = ZERO
    left_bin_offset: tuple[float, float] = (0.0, 0.0)
    right_bin_offset: tuple[float, float] = (0.0, 0.0)
    arm_base_offset: Vec3 = ZERO
    grounded: bool = False

    def __post_init__(self) -> None:
        _check_finite("layout", self.__dict__)

    def bin_offset(self, side: str) -> tuple[float, float]:
        """Shift of the `left` or `right` bin."""
        return self.left_bin_offset if side == "left" else self.right_bin_offset


@dataclass(frozen=True)
class DynamicsParameters:
    """Arm controller, delay and friction.

    Attributes:
        kp_scale, kv_scale: per arm joint, factors on the described gains.
        armature_scale: factor on the described armatures. damping: added to each arm joint [N m s/rad].
        hand_kp_scale, hand_kv_scale: factors on the hand's gains.
        delay: from a command to the actuators [s]. friction_scale: factor on every sliding friction.
    """

    kp_scale: tuple[float, ...] = ONES
    kv_scale: tuple[float, ...] = ONES
    armature_scale: float = 1.0
    damping: float = 0.0
    hand_kp_scale: float = 1.0
    hand_kv_scale: float = 1.0
    delay: float = 0.02
    friction_scale: float = 1.0
    grounded: bool = False

    def __post_init__(self) -> None:
        _check_finite("dynamics", self.__dict__)
        for name in ("kp_scale", "kv_scale"):
            scale = getattr(self, name)
            if len(scale) != ARM_DOF or min(scale) <= 0:
                raise ValueError(f"dynamics.{name} must be {ARM_DOF} positive factors, not {scale}")
        for name in ("armature_scale", "hand_kp_scale", "hand_kv_scale", "friction_scale"):
            if not getattr(self, name) > 0:
                raise ValueError(f"dynamics.{name} must be > 0, not {getattr(self, name)}")
        if not 0 <= self.delay <= MAX_DELAY:
            raise ValueError(f"dynamics.delay must lie in 0..{MAX_DELAY} s, not {self.delay}")
        if self.damping < 0:
            raise ValueError(f"dynamics.damping must be >= 0, not {self.damping}")


@dataclass(frozen=True)
class WorldParameters:
    """A world: visual, layout and dynamics parts over one cell description."""

    visual: VisualParameters = field(default_factory=VisualParameters)
    layout: LayoutParameters = field(default_factory=LayoutParameters)
    dynamics: DynamicsParameters = field(default_factory=DynamicsParameters)
    cell: str = "rizon4s_wuji2_dual"

    @property
    def is_grounded(self) -> bool:
        """True where every part was measured."""
        return self.visual.grounded and self.layout.grounded and self.dynamics.grounded

    def with_part(self, part: VisualParameters | LayoutParameters | DynamicsParameters) -> "WorldParameters":
        """The same world with one part exchanged."""
        if isinstance(part, VisualParameters):
            return replace(self, visual=part)
        return replace(self, layout=part) if isinstance(part, LayoutParameters) else replace(self, dynamics=part)

    def to_json(self) -> str:
        """JSON text; `from_json` gives back an equal world."""
        return json.dumps(asdict(self), indent=1, sort_keys=True, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "WorldParameters":
        """Parse `to_json` text; raises ValueError naming the part and field that are wrong."""
        raw = json.loads(text)
        if not isinstance(raw, dict):
            raise ValueError("a world is a JSON object with visual, layout and dynamics")
        visual = dict(_part(raw, "visual"))
        visual["cameras"] = {k: _build(CameraParameters, f"visual.cameras.{k}", v)
                             for k, v in visual.get("cameras", {}).items()}  # fmt: skip
        return cls(
            visual=_build(VisualParameters, "visual", visual),
            layout=_build(LayoutParameters, "layout", _part(raw, "layout")),
            dynamics=_build(DynamicsParameters, "dynamics", _part(raw, "dynamics")),
            cell=str(raw.get("cell", "rizon4s_wuji2_dual")),
        )


def _part(raw: dict[str, Any], name: str) -> dict[str, Any]:
    if not isinstance(raw.get(name), dict):
        raise ValueError(f"a world needs an object {name!r}")
    return raw[name]


def _build(cls: type, where: str, raw: Mapping[str, Any]) -> Any:
    legal = {field.name for field in fields(cls)}
    if set(raw) - legal:
        raise ValueError(f"{where} has no field {sorted(set(raw) - legal)}; legal: {sorted(legal)}")
    try:
        return cls(**{k: tuple(v) if isinstance(v, list) else v for k, v in raw.items()})
    except TypeError as error:
        raise ValueError(f"{where}: {error}") from error


def nominal_world(cell: CellDescription) -> WorldParameters:
    """The ungrounded world: the cell exactly as described."""
    return WorldParameters(cell=cell.name)


def look_rotation(eye: Vec3, at: Vec3, up: Vec3) -> npt.NDArray[np.float64]:
    """Rotation of a camera at `eye` that looks at `at`, (3, 3), OpenCV axes (x right, y down, z forward)."""
    z = np.asarray(at, float) - np.asarray(eye, float)
    z /= np.linalg.norm(z)
    x = np.cross(z, np.asarray(up, float))
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def camera_pose(camera: CameraDescription, params: CameraParameters) -> npt.NDArray[np.float64]:
    """`T_parent_camera`, (4, 4): camera coordinates (OpenCV axes) to the parent frame."""
    T = np.eye(4)
    R = look_rotation(camera.eye, camera.look_at, camera.up)
    T[:3, :3] = Rotation.from_rotvec(params.rotvec).as_matrix() @ R
    T[:3, 3] = np.asarray(camera.eye) + params.offset
    return T


def camera_parameters(
    camera: CameraDescription,
    T_parent_camera: npt.NDArray[np.float64],
    focal_px: float,
    k: npt.ArrayLike | None = None,
) -> CameraParameters:
    """Parameters that give a measured pose, native focal length and distortion k (4,): the inverse of `camera_pose`.

    Without k the lens is as described.
    """
    R = T_parent_camera[:3, :3] @ look_rotation(camera.eye, camera.look_at, camera.up).T
    rotvec = Rotation.from_matrix(R).as_rotvec()
    offset = T_parent_camera[:3, 3] - np.asarray(camera.eye)
    bend = NO_OFFSET if k is None else np.subtract(k, camera.distortion or NO_OFFSET).tolist()
    return CameraParameters(
        focal_scale=float(focal_px / camera.focal_px),
        offset=vec3(offset),
        rotvec=vec3(rotvec),
        distortion_offset=tuple(bend),
    )


def intrinsics(camera: CameraDescription, params: CameraParameters, width: int, height: int) -> npt.NDArray[np.float64]:
    """Camera matrix of an image `width` x `height` of the camera, (3, 3) [px]; a fisheye bends its rays besides.

    What is seen from top to bottom is kept, so the focal length scales with the height.
    """
    f = camera.focal_px * params.focal_scale * height / camera.height
    return np.array([[f, 0.0, width / 2], [0.0, f, height / 2], [0.0, 0.0, 1.0]])


def distortion(camera: CameraDescription, params: CameraParameters) -> Distortion | None:
    """k1..k4 of a fisheye, None for a pinhole; raises ValueError where a pinhole is given an offset of them."""
    if camera.distortion is not None:
        k1, k2, k3, k4 = (k + d for k, d in zip(camera.distortion, params.distortion_offset, strict=True))
        return k1, k2, k3, k4
    if params.distortion_offset != NO_OFFSET:
        raise ValueError(f"camera {camera.name} is a pinhole: its distortion_offset must be zeros")
    return None


def vertical_fov(camera: CameraDescription, params: CameraParameters) -> float:
    """Vertical field of view [rad] of the pinhole image that is drawn for the camera.

    A fisheye's is sampled from it, so it reaches to the fisheye's corners, up to 150 degrees.
    """
    K = intrinsics(camera, params, camera.width, camera.height)
    corner = np.array([float(camera.width), float(camera.height)])
    k = distortion(camera, params)
    fov = 2.0 * math.atan(tangents(corner, K[0, 0], K[:2, 2], k)[1])
    if k is None:
        return fov
    return WIDEST if math.isnan(fov) else min(fov, WIDEST)
