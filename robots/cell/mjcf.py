"""MjSpec of a whole cell: description + world -> bodies, cameras, lights. Pure assembly; nothing is simulated here."""

from collections.abc import Sequence
from typing import Literal

import mujoco
import numpy as np

from robots.cell.description import BinDescription, CameraDescription, CellDescription, ObjectDescription
from robots.cell.mjcf_robot import add_delay, arm_spec, freeze_joints, hand_spec, quat_of
from robots.cell.world import WorldParameters, camera_pose, vertical_fov

LeftArm = Literal["dynamic", "fixed"]
BOX = mujoco.mjtGeom.mjGEOM_BOX
SHAPES = {"box": BOX, "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER, "ball": mujoco.mjtGeom.mjGEOM_SPHERE}
WORLD_COLLISION = {"contype": 1, "conaffinity": 3}
OBJECT_FRICTION = (0.7, 0.005, 0.0003)
BELT_FRICTION = (0.9, 0.005, 0.0001)
FOAM = {"friction": [0.9, 0.02, 0.006], "condim": 6, "solref": [0.02, 1.5]}  # rolling friction stops round objects
OPENCV_TO_MUJOCO = np.diag([1.0, -1.0, -1.0])


def build_spec(
    cell: CellDescription,
    world: WorldParameters,
    objects: Sequence[str] | None = None,
    *,
    left_arm: LeftArm = "dynamic",
) -> mujoco.MjSpec:
    """The scene of a cell in a world.

    Args:
        objects: names of the objects it can show, one at a time, as geoms of the one free body `object`; None for all.
        left_arm: `fixed` bakes the left arm and hand into their holding pose, which halves the cost of a step.
    """
    spec = robot_spec(cell, world, left_arm=left_arm)
    _set_options(spec)
    _add_lights(spec, world)
    for camera in cell.cameras:
        _add_camera(spec, camera, world)
    spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[2, 2, 0.1],
                            rgba=[0.55, 0.52, 0.48, 1], **WORLD_COLLISION)  # fmt: skip
    _add_belt(spec, cell, world)
    for side in ("left", "right"):
        _add_bin(spec, side, cell.bin(side), world)
    _add_object_body(spec, [cell.object(name) for name in objects or [o.name for o in cell.objects]])
    _scale_friction(spec, world.dynamics.friction_scale)
    return spec


def robot_spec(
    cell: CellDescription,
    world: WorldParameters,
    *,
    left_arm: LeftArm = "dynamic",
    sides: Sequence[str] = ("right", "left"),
) -> mujoco.MjSpec:
    """The arms with their hands, nothing around them; names start with `right_` and `left_`."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    for side in sides:
        arm = cell.right_arm if side == "right" else cell.left_arm
        hand = cell.right_hand if side == "right" else cell.left_hand
        one = arm_spec(arm, world.dynamics)
        one.attach(hand_spec(hand, world.dynamics, collides=side == "right"), prefix="hand_", site=one.site("mount"))
        if side == "left" and left_arm == "fixed":
            hold = [*cell.q_left_hold, *cell.left_hand_hold]
            names = [name.removeprefix("left_") for name in cell.side_joint_names("left")]
            freeze_joints(one, dict(zip(names, hold, strict=True)))
        base = np.asarray(arm.base) + world.layout.arm_base_offset
        spec.attach(one, prefix=f"{side}_", frame=spec.worldbody.add_frame(pos=base))
    add_delay(spec, world.dynamics.delay)
    return spec


def _set_options(spec: mujoco.MjSpec) -> None:
    """Euler, as implicitfast of MuJoCo 4.0.0 diverges on a free body between fingers; elliptic cones for the ball."""
    spec.option.timestep, spec.option.iterations, spec.option.impratio = 0.002, 30, 10
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_EULER
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.stat.center, spec.stat.extent = [0.4, -0.3, 0.2], 1.2
    spec.visual.map.znear = 0.02
    quality = spec.visual.quality  # coarse curves: a software renderer spends its time on vertices
    quality.offsamples, quality.numslices, quality.numstacks, quality.numquads = 0, 10, 5, 2
    spec.visual.global_.offwidth, spec.visual.global_.offheight = 640, 640


def _add_lights(spec: mujoco.MjSpec, world: WorldParameters) -> None:
    color = np.asarray(world.visual.light_color) * world.visual.light_intensity
    kw = {"type": mujoco.mjtLightType.mjLIGHT_SPOT, "castshadow": False, "cutoff": 90.0, "exponent": 1.0}
    spec.worldbody.add_light(name="lamp", pos=[0.2, -0.2, 2.2], dir=[0.1, 0, -1], diffuse=0.6 * color, **kw)
    spec.worldbody.add_light(name="window", pos=[1.2, 0.6, 1.6], dir=[-0.7, -0.5, -1], diffuse=0.35 * color, **kw)
    spec.visual.headlight.ambient, spec.visual.headlight.diffuse = 0.1 * color, 0.4 * color


def _add_camera(spec: mujoco.MjSpec, camera: CameraDescription, world: WorldParameters) -> None:
    parents = {"world": "world", "right_wrist": "right_hand_wrist", "left_wrist": "left_hand_wrist"}
    params = world.visual.camera(camera.name)
    T = camera_pose(camera, params)
    spec.body(parents[camera.parent]).add_camera(
        name=camera.name, pos=T[:3, 3], quat=quat_of(T[:3, :3] @ OPENCV_TO_MUJOCO),
        fovy=np.degrees(vertical_fov(camera, params)))  # fmt: skip


def _add_belt(spec: mujoco.MjSpec, cell: CellDescription, world: WorldParameters) -> None:
    belt = cell.belt
    center = np.asarray(belt.center) + world.layout.belt_offset - [0, 0, belt.half_thickness]
    body = spec.worldbody.add_body(name="belt", pos=center)
    geom = body.add_geom(name="belt", type=BOX, size=[belt.half_width, belt.half_length, belt.half_thickness],
                         friction=BELT_FRICTION, rgba=[0.16, 0.17, 0.19, 1], **WORLD_COLLISION)  # fmt: skip
    geom.surfacevel = [0, -0.1, 0, 0, 0, 0]


def _add_bin(spec: mujoco.MjSpec, side: str, bin_: BinDescription, world: WorldParameters) -> None:
    x, y = np.asarray(bin_.center) + world.layout.bin_offset(side)
    hx, hy = bin_.half_extents
    thin, wall = 0.004, bin_.height / 2
    body = spec.worldbody.add_body(name=f"{side}_bin", pos=[x, y, 0])
    body.add_geom(name=f"{side}_bin_floor", type=BOX, size=[hx, hy, 0.003], pos=[0, 0, 0.003], rgba=bin_.color,
                  **FOAM, **WORLD_COLLISION)  # fmt: skip
    for dx, dy, sx, sy in ((hx, 0, thin, hy), (-hx, 0, thin, hy), (0, hy, hx, thin), (0, -hy, hx, thin)):
        body.add_geom(type=BOX, size=[sx, sy, wall], pos=[dx, dy, wall], rgba=bin_.color, **WORLD_COLLISION)


def _add_object_body(spec: mujoco.MjSpec, objects: Sequence[ObjectDescription]) -> None:
    """One free body with a geom for each object; `Scene.reset` leaves one of them."""
    body = spec.worldbody.add_body(name="object", pos=[0.765, 0.3, 0.3])
    body.add_freejoint(name="object")
    first = objects[0]
    body.explicitinertial = True
    body.mass, body.ipos = first.mass, [0.0, 0.0, 0.0]
    body.inertia = np.multiply(first.inertia_per_mass, first.mass)
    for thing in objects:
        size = (*thing.size, 0.0, 0.0)[:3]
        body.add_geom(name=f"object_{thing.name}", type=SHAPES[thing.shape], size=size, density=0, condim=4,
                      friction=OBJECT_FRICTION, solref=[0.006, 1.0], rgba=thing.color, **WORLD_COLLISION)  # fmt: skip


def _scale_friction(spec: mujoco.MjSpec, scale: float) -> None:
    for geom in spec.geoms:
        geom.friction = np.asarray(geom.friction) * scale
