"""Identify the controllers of arm and hand: simulate a recording and fit gains and delay to the measured joints.

Gauss-Newton on theta = (log kp_i, log kv_i of the arm's joints, log kp, log kv of the hand, delay). A joint's response
depends to first order on its own gains alone, so one perturbed simulation serves all joints at once; the few
simulations of an iteration run side by side. Rotor inertias and friction stay as described: free motion shows only
ratios to inertia.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import mujoco
import numpy as np
from mujoco.batch import Batch

from generation.arrays import Array
from generation.world.cameras import rotation_angle
from robots.cell.description import ARM_DOF, PHYSICS_DT, SIDE_DOF, STEPS_PER_TICK, CellDescription
from robots.cell.kinematics import ArmKinematics
from robots.cell.mjcf import robot_spec
from robots.cell.mjcf_robot import HISTORY_SAMPLES
from robots.cell.world import MAX_DELAY, DynamicsParameters, WorldParameters, nominal_world

ITERATIONS = 5
GAIN_STEP, DELAY_STEP = 0.02, 0.004
LIMITS = (0.2, 5.0)  # of every gain scale


@dataclass(frozen=True)
class JointRecording:
    """Commanded targets (T, 54) and the joints measured one tick after each (T, 54) [rad], from rest at the first."""

    targets: Array
    measured: Array


@dataclass(frozen=True)
class DynamicsFit:
    """Identified dynamics and how well they reproduce a recording that was not fitted."""

    parameters: DynamicsParameters
    tcp_rms_mm: float
    tcp_rms_deg: float
    nominal_tcp_rms_mm: float
    fingertip_rms_mm: float


def identify_dynamics(cell: CellDescription, fitted: JointRecording, held_out: JointRecording) -> DynamicsFit:
    """Gains and delay from `fitted`, residuals on `held_out`."""
    simulation = ResponseSimulation(cell, simulations=6)
    parameters = DynamicsParameters(delay=0.02, grounded=True)
    for _ in range(ITERATIONS):
        parameters = _improved(simulation, parameters, fitted)
    nominal, found = simulation.run([DynamicsParameters(), parameters], held_out)
    mm, degrees = tcp_rms(cell, found, held_out.measured)
    return DynamicsFit(
        parameters=parameters,
        tcp_rms_mm=mm,
        tcp_rms_deg=degrees,
        nominal_tcp_rms_mm=tcp_rms(cell, nominal, held_out.measured)[0],
        fingertip_rms_mm=float(1e3 * fingertip_rms(cell, found, held_out.measured)),
    )


class ResponseSimulation:
    """Right arm and hand alone, answering one command sequence under several dynamics at once."""

    def __init__(self, cell: CellDescription, simulations: int) -> None:
        self._cell = cell
        self._model = robot_spec(cell, nominal_world(cell), sides=("right",)).compile()
        self._model.opt.timestep = PHYSICS_DT
        self._batch = Batch(self._model, simulations, 0)
        self._home = cell.home_state[:SIDE_DOF]

    def run(self, dynamics: Sequence[DynamicsParameters], recording: JointRecording) -> Array:
        """Joints (len(dynamics), T, 27) [rad] after each tick of the recording's targets."""
        ids = np.arange(len(dynamics))
        for i, parameters in enumerate(dynamics):
            self._set(i, parameters)
        self._batch.state[ids] = self._start(recording.targets[0, :SIDE_DOF])
        ctrl, qpos = self._batch.bind("ctrl"), self._batch.bind("qpos")
        out = np.empty((len(dynamics), len(recording.targets), SIDE_DOF))
        for k, target in enumerate(recording.targets[:, :SIDE_DOF]):
            ctrl[ids] = target
            self._batch.step(ids, nstep=STEPS_PER_TICK)
            out[:, k] = qpos[ids]
        return out

    def _set(self, i: int, dynamics: DynamicsParameters) -> None:
        model = robot_spec(self._cell, WorldParameters(dynamics=dynamics), sides=("right",)).compile()
        for name in ("actuator_gainprm", "actuator_biasprm", "actuator_delay"):
            self._batch.expand(name)[i] = getattr(model, name)

    def _start(self, posture: Array) -> Array:
        data = mujoco.MjData(self._model)
        data.qpos[:], data.ctrl[:] = posture, posture
        times = PHYSICS_DT * np.arange(-HISTORY_SAMPLES, 0)
        for actuator in range(self._model.nu):
            mujoco.mj_initCtrlHistory(self._model, data, actuator, times, np.full(HISTORY_SAMPLES, posture[actuator]))
        spec = int(mujoco.mjtState.mjSTATE_INTEGRATION)
        state = np.empty(mujoco.mj_stateSize(self._model, spec))
        mujoco.mj_getState(self._model, data, state, spec)
        return state


def _improved(simulation: ResponseSimulation, at: DynamicsParameters, recording: JointRecording) -> DynamicsParameters:
    """One Gauss-Newton step."""
    gain = 1 + GAIN_STEP
    perturbed = [
        at,
        replace(at, kp_scale=tuple(gain * k for k in at.kp_scale), hand_kp_scale=gain * at.hand_kp_scale),
        replace(at, kv_scale=tuple(gain * k for k in at.kv_scale), hand_kv_scale=gain * at.hand_kv_scale),
        replace(at, delay=min(at.delay + DELAY_STEP, MAX_DELAY)),
    ]
    base, by_kp, by_kv, by_delay = simulation.run(perturbed, recording)
    residual = recording.measured[:, :SIDE_DOF] - base
    columns = [(by_kp - base) / np.log(gain), (by_kv - base) / np.log(gain), (by_delay - base) / DELAY_STEP]
    step = _solve(residual, *columns)
    low, high = LIMITS
    kp, kv = np.clip(np.array(at.kp_scale) * np.exp(step[:7]), low, high), step[7:14]
    kv = np.clip(np.array(at.kv_scale) * np.exp(kv), low, high)
    return replace(
        at,
        kp_scale=tuple(kp.tolist()),
        kv_scale=tuple(kv.tolist()),
        hand_kp_scale=float(np.clip(at.hand_kp_scale * np.exp(step[14]), low, high)),
        hand_kv_scale=float(np.clip(at.hand_kv_scale * np.exp(step[15]), low, high)),
        delay=float(np.clip(at.delay + step[16], 0, MAX_DELAY)),
    )


def _solve(residual: Array, by_kp: Array, by_kv: Array, by_delay: Array) -> Array:
    """Least squares over the 17 parameters from per-joint sensitivities (T, 27) by its normal equations.

    Joints are weighted by how much they move, so that hand and arm count alike.
    """
    weight = 1 / np.maximum(np.abs(by_delay).max(0), 1e-6)
    normal, right = np.zeros((17, 17)), np.zeros(17)
    for j in range(SIDE_DOF):
        rows = [j, 7 + j, 16] if j < ARM_DOF else [14, 15, 16]
        J = weight[j] * np.stack([by_kp[:, j], by_kv[:, j], by_delay[:, j]], 1)
        normal[np.ix_(rows, rows)] += J.T @ J
        right[rows] += J.T @ (weight[j] * residual[:, j])
    damping = 1e-6 * np.trace(normal) / 17
    step = np.linalg.solve(normal + damping * np.eye(17), right)
    return np.clip(step, -0.5, 0.5)


def tcp_rms(cell: CellDescription, joints: Array, measured: Array) -> tuple[float, float]:
    """RMS difference of two arm motions (T, 27+) at the TCP: position [mm] and rotation [deg]."""
    kinematics = ArmKinematics(cell)
    distance, angle = [], []
    for a, b in zip(joints[:, :ARM_DOF], measured[:, :ARM_DOF], strict=True):
        (p, R), (p_measured, R_measured) = kinematics.fk(a), kinematics.fk(b)
        distance.append(np.linalg.norm(p - p_measured))
        angle.append(rotation_angle(R @ R_measured.T))
    return float(1e3 * np.sqrt(np.mean(np.square(distance)))), float(np.degrees(np.sqrt(np.mean(np.square(angle)))))


def fingertip_rms(cell: CellDescription, joints: Array, measured: Array) -> float:
    """Median over the fingers of the RMS difference of their tips in the hand's frame [m]."""
    model = robot_spec(cell, nominal_world(cell), sides=("right",)).compile()
    data = mujoco.MjData(model)
    pads = [model.geom(f"right_hand_{finger}_pad").id for finger in ("thumb", "index", "middle", "ring", "pinky")]

    def tips(hand: Array) -> Array:
        data.qpos[:] = [*cell.q_home, *hand]
        mujoco.mj_kinematics(model, data)
        return data.geom_xpos[pads].copy()

    pairs = zip(joints[:, ARM_DOF:SIDE_DOF], measured[:, ARM_DOF:SIDE_DOF], strict=True)
    squared = np.array([((tips(a) - tips(b)) ** 2).sum(1) for a, b in pairs])
    return float(np.median(np.sqrt(squared.mean(0))))
