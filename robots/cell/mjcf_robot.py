"""MjSpec of one arm with its hand: primitive shells, the official hand kinematics, inertias and actuators."""

import importlib.util
import math
from pathlib import Path

import mujoco
import numpy as np
import numpy.typing as npt

from robots.cell.description import FINGERS, ArmDescription, HandDescription
from robots.cell.world import MAX_DELAY, DynamicsParameters

COLLIDES_AS_HAND = {"contype": 2, "conaffinity": 1}
NO_COLLISION = {"contype": 0, "conaffinity": 0}
PAD = {"friction": [1.0, 0.01, 0.0005], "condim": 4, "priority": 1, "solref": [0.006, 1.0]}
WHITE, GREY = [0.85, 0.85, 0.87, 1.0], [0.60, 0.62, 0.66, 1.0]
PALM, LINK, TIP = [0.72, 0.72, 0.75, 1.0], [0.35, 0.36, 0.40, 1.0], [0.45, 0.70, 0.90, 1.0]
_MODEL_FINGERS = ("thumb", "index_finger", "middle_finger", "ring_finger", "pinky")
HISTORY_SAMPLES = round(MAX_DELAY / 0.002)


def arm_spec(arm: ArmDescription, dynamics: DynamicsParameters) -> mujoco.MjSpec:
    """The arm alone; joints and actuators are called `arm_joint1..7`, the mount of the hand is site `mount`."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    body = spec.worldbody.add_body(name="arm_base", gravcomp=1)
    _shell(body, (0.0, 0.0, 0.15, 0.07), WHITE)
    for i, joint in enumerate(arm.joints, 1):
        body = body.add_body(name=f"arm_link{i}", pos=joint.origin, quat=joint.quat_wxyz, gravcomp=1)
        body.explicitinertial = True
        body.mass, body.ipos, body.inertia = joint.mass, joint.com, joint.inertia
        axis = [0, 1, 0] if joint.axis == "y" else [0, 0, 1]
        hinge = body.add_joint(name=f"arm_joint{i}", type=mujoco.mjtJoint.mjJNT_HINGE, axis=axis)
        hinge.range, hinge.limited = [joint.lower, joint.upper], 1
        hinge.actfrcrange, hinge.actfrclimited = [-joint.effort, joint.effort], 1
        hinge.armature, hinge.damping = joint.armature * dynamics.armature_scale, [dynamics.damping, 0, 0]
        _shell(body, joint.capsule, WHITE if i % 2 else GREY)
        servo = spec.add_actuator(name=f"arm_joint{i}", target=f"arm_joint{i}", trntype=mujoco.mjtTrn.mjTRN_JOINT)
        servo.set_to_position(kp=joint.kp * dynamics.kp_scale[i - 1], kv=joint.kv * dynamics.kv_scale[i - 1])
        servo.inheritrange = 1
    body.add_site(name="flange", pos=arm.flange, quat=[0, 0, 0, 1])
    body.add_site(name="mount", pos=arm.hand_mount, quat=arm.hand_mount_quat_wxyz)
    return spec


def _shell(body: mujoco.MjsBody, capsule: tuple[float, float, float, float], rgba: list[float]) -> None:
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=[0, 0, 0, *capsule[:3]], size=[capsule[3], 0, 0],
                  density=0, rgba=rgba, **NO_COLLISION)  # fmt: skip


def hand_spec(hand: HandDescription, dynamics: DynamicsParameters, collides: bool) -> mujoco.MjSpec:
    """The official Wuji Hand 2 with capsules in place of its meshes; joints are called `thumb_S1` and so on.

    Raises:
        ModuleNotFoundError: the `aiowuji` package, which carries the model, is not installed.
    """
    spec = mujoco.MjSpec.from_file(str(_model_file(hand.side)))
    for item in [g for b in spec.bodies for g in b.geoms] + list(spec.meshes):
        spec.delete(item)
    for exclude in list(spec.excludes):
        spec.delete(exclude)
    option = spec.option  # defaults again, or attaching warns about a conflict
    option.tolerance, option.iterations, option.jacobian = 1e-8, 100, mujoco.mjtJacobian.mjJAC_AUTO
    option.integrator = mujoco.mjtIntegrator.mjINT_EULER
    _add_capsules(spec, hand.side[0] + "_", COLLIDES_AS_HAND if collides else NO_COLLISION)
    _rename_joints(spec)
    for servo in spec.actuators:
        servo.gainprm[0] *= dynamics.hand_kp_scale
        servo.biasprm[1] *= dynamics.hand_kp_scale
        servo.biasprm[2] *= dynamics.hand_kv_scale
    wrist = spec.body(hand.side[0] + "_wrist")
    wrist.add_site(name="tcp", pos=hand.tcp, quat=quat_of(tcp_rotation(hand.tilt)), group=4)
    wrist.name = "wrist"
    for body in spec.bodies:
        body.gravcomp = 1
    return spec


def _model_file(side: str) -> Path:
    found = importlib.util.find_spec("aiowuji")
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError(
            "the hand model is in the package aiowuji; install it with: pip install --no-deps aiowuji"
        )
    return Path(found.submodule_search_locations[0]) / "models" / "wuji_hand2" / "mjcf" / f"{side}.xml"


def _rename_joints(spec: mujoco.MjSpec) -> None:
    """Model order is thumb to pinky, four joints each, for joints and actuators alike."""
    names = [f"{finger}_S{i}" for finger in FINGERS for i in range(1, 5)]
    for joint, servo, name in zip(list(spec.joints), list(spec.actuators), names, strict=True):
        joint.name = name
        servo.name = servo.target = name


def _add_capsules(spec: mujoco.MjSpec, prefix: str, collision: dict[str, int]) -> None:
    kw = {"density": 0, **collision}
    box, capsule = mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_CAPSULE
    spec.body(prefix + "wrist").add_geom(type=box, size=[0.036, 0.016, 0.040], pos=[-0.0075, -0.001, -0.034],
                                         rgba=PALM, **kw)  # fmt: skip
    for finger, short in zip(_MODEL_FINGERS, FINGERS, strict=True):
        name, is_thumb = prefix + finger, finger == "thumb"
        radius = 0.0095 if is_thumb else 0.0078
        y, z0, z1, pad_radius = (0.0017, -0.012, -0.0205, 0.0097) if is_thumb else (0.0012, -0.009, -0.0178, 0.0082)
        to_middle, to_distal = (spec.body(f"{name}_{part}").pos[2] for part in ("middle", "distal"))
        for part, line, size, rgba, extra in (
            ("proximal_abd", (0, 0, 0, 0, 0, to_middle), radius, LINK, {}),
            ("middle", (0, 0, 0, 0, 0, to_distal), radius - 0.0008, PALM, {}),
            ("distal", (0, 0, 0, 0, 0, -0.014), radius - 0.0012, LINK, {}),
            ("tip_sensor_frame", (0, y, z0, 0, y, z1), pad_radius, TIP, {**PAD, "name": f"{short}_pad"}),
        ):
            spec.body(f"{name}_{part}").add_geom(type=capsule, fromto=line, size=[size, 0, 0], rgba=rgba, **kw, **extra)


def tcp_rotation(tilt: float) -> npt.NDArray[np.float64]:
    """Rotation of the TCP in the wrist frame, (3, 3): z = approach, x = closing direction of the fingers."""
    approach = np.array([0.0, math.sin(tilt), -math.cos(tilt)])
    closing = np.array([0.0, math.cos(tilt), math.sin(tilt)])
    return np.stack([closing, np.cross(approach, closing), approach], axis=1)


def quat_of(R: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Quaternion wxyz of a rotation matrix, (4,)."""
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, np.ascontiguousarray(R, float).ravel())
    return quat


def freeze_joints(spec: mujoco.MjSpec, positions: dict[str, float]) -> None:
    """Remove the named joints and their actuators with each joint standing at its position [rad]."""
    for servo in [a for a in spec.actuators if a.target in positions]:
        spec.delete(servo)
    for joint in [j for j in spec.joints if j.name in positions]:
        turn, quat = np.zeros(4), np.zeros(4)
        mujoco.mju_axisAngle2Quat(turn, joint.axis, positions[joint.name])
        mujoco.mju_mulQuat(quat, joint.parent.quat, turn)
        joint.parent.quat = quat
        spec.delete(joint)


def add_delay(spec: mujoco.MjSpec, delay: float) -> None:
    """Let every actuator act on the command given `delay` seconds ago (at most 0.1 s)."""
    for servo in spec.actuators:
        servo.nsample, servo.delay = HISTORY_SAMPLES, delay
