"""`Scene`: a compiled cell that is reset to a start and stepped at 50 Hz with 54 joint targets."""

from collections.abc import Callable, Sequence

import mujoco
import numpy as np
import numpy.typing as npt

from robots.cell.description import PHYSICS_DT, STEPS_PER_TICK, CellDescription
from robots.cell.initial import Appearance, InitialState, belt_origin
from robots.cell.mjcf import LeftArm, build_spec
from robots.cell.mjcf_robot import HISTORY_SAMPLES
from robots.cell.sample import SceneSample
from robots.cell.world import WorldParameters

Array = npt.NDArray[np.float64]
TARGET_TOLERANCE = 0.6  # a servo target may lead its joint; far outside the range it is a mistake
_CLEARANCE = 0.0005


class Scene:
    """One cell in one world.

    Args:
        objects: names that may appear (None: all). left_arm: `fixed` holds it without joints, at about half the cost.
        extras: adds further things to the scene before it is compiled.
    """

    def __init__(
        self,
        cell: CellDescription,
        world: WorldParameters,
        objects: Sequence[str] | None = None,
        *,
        left_arm: LeftArm = "fixed",
        extras: Callable[[mujoco.MjSpec], None] | None = None,
    ) -> None:
        self.cell, self.world, self.left_arm = cell, world, left_arm
        spec = build_spec(cell, world, objects, left_arm=left_arm)
        if extras is not None:
            extras(spec)
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        self.initial: InitialState | None = None
        self.tick = 0
        m = self.model
        names = cell.joint_names if left_arm == "dynamic" else cell.side_joint_names("right")
        self.action_index = np.array([cell.joint_names.index(n) for n in names])
        self.qpos_index = np.array([m.joint(n).qposadr[0] for n in names])
        self.dof_index = np.array([m.joint(n).dofadr[0] for n in names])
        self.ctrl_index = np.array([m.actuator(n).id for n in names])
        self.object_body = m.body("object").id
        self.object_qpos, self.object_dof = int(m.joint("object").qposadr[0]), int(m.joint("object").dofadr[0])
        self.object_geom = -1
        self.tcp_site = m.site("right_hand_tcp").id
        self._belt_geom, self._belt_body = m.geom("belt").id, m.body("belt").id
        self._belt_z = float(m.body_pos[self._belt_body, 2])
        self._hand_geoms = _geoms_of(m, "right_hand_")
        self._object_geoms = _geoms_of(m, "object")
        self._lights = (m.light_diffuse.copy(), m.light_pos.copy())
        self._headlight = (m.vis.headlight.ambient.copy(), m.vis.headlight.diffuse.copy())
        self._last_tcp = np.zeros(3)

    def reset(self, initial: InitialState, state: Array | None = None) -> None:
        """Lay the object on the moving belt and stand the robot at its home posture, or at `state` (54,)."""
        m, d = self.model, self.data
        self.initial, self.tick = initial, 0
        self._show_object(initial)
        self.set_belt_speed(initial.belt_speed)
        m.body_pos[self._belt_body, 2] = self._belt_z + initial.belt_raise
        self.set_appearance(initial.appearance)
        mujoco.mj_setConst(m, d)
        mujoco.mj_resetData(m, d)
        q = self.cell.home_state if state is None else np.asarray(state, float)
        d.qpos[self.qpos_index] = q[self.action_index]
        self._place_object(initial)
        self._hold(q)
        mujoco.mj_forward(m, d)
        self._last_tcp = d.site_xpos[self.tcp_site].copy()

    def belt_origin(self) -> Array:
        """Origin of the belt frame in the world now, (3,) [m]."""
        raised = self.model.body_pos[self._belt_body, 2] - self._belt_z
        return belt_origin(self.cell, self.world) + np.array([0.0, 0.0, raised])

    def _show_object(self, initial: InitialState) -> None:
        m, thing = self.model, self.cell.object(initial.object)
        geom = mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_GEOM, f"object_{thing.name}")
        if geom < 0:
            raise KeyError(f"this scene was built without the object {thing.name!r}")
        for g in self._object_geoms:
            m.geom_contype[g], m.geom_conaffinity[g] = (1, 3) if g == geom else (0, 0)
            m.geom_rgba[g, 3] = 1.0 if g == geom else 0.0
        self.object_geom = geom
        mass = initial.mass or thing.mass
        m.body_mass[self.object_body] = mass
        m.body_inertia[self.object_body] = np.multiply(thing.inertia_per_mass, mass)

    def _place_object(self, initial: InitialState) -> None:
        position = self.belt_origin() + initial.position + np.array([0.0, 0.0, _CLEARANCE])
        half = initial.yaw / 2
        a, v = self.object_qpos, self.object_dof
        self.data.qpos[a : a + 7] = [*position, np.cos(half), 0.0, 0.0, np.sin(half)]
        self.data.qvel[v + 1] = -initial.belt_speed

    def _hold(self, q: Array) -> None:
        """Fill command and delay history with a posture, as if it had been commanded for a while."""
        self.data.ctrl[self.ctrl_index] = q[self.action_index]
        times = PHYSICS_DT * np.arange(-HISTORY_SAMPLES, 0)
        for actuator in self.ctrl_index:
            value = np.full(HISTORY_SAMPLES, self.data.ctrl[actuator])
            mujoco.mj_initCtrlHistory(self.model, self.data, int(actuator), times, value)

    def set_belt_speed(self, speed: float) -> None:
        """Surface speed towards -y [m/s]."""
        self.model.geom_surfacevel[self._belt_geom, 1] = -speed
        self.model.flg_surfacevel = 1

    def set_appearance(self, look: Appearance) -> None:
        """Colour of the shown object and of the light, on top of the world's own light."""
        m = self.model
        color = np.asarray(look.light_color) * look.light_intensity
        m.light_diffuse[:] = self._lights[0] * color
        m.light_pos[:] = self._lights[1]
        m.light_pos[m.light("lamp").id] += look.light_shift
        m.vis.headlight.ambient[:], m.vis.headlight.diffuse[:] = (part * color for part in self._headlight)
        if self.object_geom >= 0 and self.initial is not None:
            m.geom_rgba[self.object_geom, :3] = look.object_color or self.cell.object(self.initial.object).color[:3]

    def step(self, action: Array) -> None:
        """One 50 Hz tick towards joint targets (54,) [rad]; they act after the world's delay."""
        self.data.ctrl[self.ctrl_index] = np.asarray(action)[self.action_index]
        self._last_tcp = self.data.site_xpos[self.tcp_site].copy()
        mujoco.mj_step(self.model, self.data, nstep=STEPS_PER_TICK)
        self.tick += 1

    def state(self) -> Array:
        """Measured joint positions, (54,) [rad]."""
        q = self.cell.home_state
        q[self.action_index] = self.data.qpos[self.qpos_index]
        return q

    def command_ranges(self) -> tuple[Array, Array]:
        """Lowest and highest joint targets that a controller takes, each (54,) [rad]; joints held fixed take any."""
        lower, upper = np.full((2, len(self.cell.joint_names)), [[-np.inf], [np.inf]])
        joints = [self.model.joint(self.cell.joint_names[at]) for at in self.action_index]
        lower[self.action_index], upper[self.action_index] = np.array([joint.range for joint in joints]).T
        return lower - TARGET_TOLERANCE, upper + TARGET_TOLERANCE

    def velocity(self) -> Array:
        """Joint velocities, (54,) [rad/s]."""
        qd = np.zeros(len(self.cell.joint_names))
        qd[self.action_index] = self.data.qvel[self.dof_index]
        return qd

    def object_pose(self) -> tuple[Array, Array]:
        """Position (3,) [m] and quaternion wxyz (4,) of the object in the world."""
        a = self.object_qpos
        return self.data.qpos[a : a + 3].copy(), self.data.qpos[a + 3 : a + 7].copy()

    def tcp_pose(self) -> tuple[Array, Array]:
        """Position (3,) [m] and rotation (3, 3) of the right TCP in the world."""
        d = self.data
        return d.site_xpos[self.tcp_site].copy(), d.site_xmat[self.tcp_site].reshape(3, 3).copy()

    def sample(self) -> SceneSample:
        """The facts a judge needs about this tick; contacts are those of the last physics step."""
        position, _ = self.object_pose()
        tcp = self.data.site_xpos[self.tcp_site].copy()
        half = self.cell.object(self.initial.object).half_height if self.initial else 0.0
        touching, force = self._hand_contacts()
        v = self.data.qvel[self.object_dof : self.object_dof + 3]
        return SceneSample(
            time=float(self.data.time),
            object_position=position,
            object_height=float(position[2] - half - self.belt_origin()[2]),
            object_speed=float(np.linalg.norm(v)),
            tcp_position=tcp,
            tcp_speed=float(np.linalg.norm(tcp - self._last_tcp)) * 50.0,
            is_touching=touching,
            obstacle_force=force,
        )

    def _hand_contacts(self) -> tuple[bool, float]:
        """Whether the right hand touches the object, and its largest normal force on anything else [N]."""
        pairs = self.data.contact.geom
        in_hand = self._hand_geoms[pairs]
        touching = bool(np.any(in_hand.any(axis=1) & (pairs == self.object_geom).any(axis=1)))
        force, wrench = 0.0, np.zeros(6)
        for i in np.flatnonzero(in_hand.any(axis=1) & ~(pairs == self.object_geom).any(axis=1)):
            mujoco.mj_contactForce(self.model, self.data, int(i), wrench)
            force = max(force, float(wrench[0]))
        return touching, force


def _geoms_of(model: mujoco.MjModel, prefix: str) -> npt.NDArray[np.bool_] | npt.NDArray[np.int64]:
    """For `object` the ids of its geoms, else a mask over geoms of bodies whose name starts with the prefix."""
    mask = np.array([model.body(b).name.startswith(prefix) for b in model.geom_bodyid])
    return np.flatnonzero(mask) if prefix == "object" else mask
