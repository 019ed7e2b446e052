"""Motion that shows how a controller answers: sums of sines, all joints at once, within safe speeds. Pure."""

import numpy as np

from generation.arrays import Array
from robots.cell.description import ARM_DOF, CONTROL_DT, SIDE_DOF, CellDescription

FREQUENCIES = np.array([0.15, 0.3, 0.55, 0.9, 1.4, 2.1])  # Hz
ARM_AMPLITUDE = np.array([0.06, 0.05, 0.10, 0.05, 0.16, 0.12, 0.22])  # rad, largest excursion
HAND_AMPLITUDE = 0.12
PACE = np.ones(SIDE_DOF)
PACE[4:ARM_DOF] = 2.0  # the wrist's joints carry little: only fast motion tells their gains apart
RAMP = 1.0  # s of easing in and out
ARM_SPEED_SHARE, HAND_SPEED = 0.6, 1.5  # of the joint limits; rad/s


def excitation(cell: CellDescription, seconds: float, rng: np.random.Generator) -> Array:
    """Joint targets (T, 54) [rad] around the home posture, starting and ending there.

    Each joint moves by sum_k a_k sin(2 pi f_k t + phi_k) with its own phases and slightly detuned frequencies, scaled
    to its amplitude and to a share of its speed limit.
    """
    t = np.arange(round(seconds / CONTROL_DT)) * CONTROL_DT
    amplitude = np.concatenate([ARM_AMPLITUDE, np.full(SIDE_DOF - ARM_DOF, HAND_AMPLITUDE)])
    limits = [ARM_SPEED_SHARE * joint.velocity for joint in cell.right_arm.joints]
    speed = np.concatenate([limits, np.full(SIDE_DOF - ARM_DOF, HAND_SPEED)])
    frequency = FREQUENCIES * PACE[:, None] * rng.uniform(0.9, 1.1, (SIDE_DOF, 1))
    angle = 2 * np.pi * frequency[:, :, None] * t + rng.uniform(0, 2 * np.pi, (SIDE_DOF, len(FREQUENCIES), 1))
    wave = (np.sin(angle) / np.sqrt(FREQUENCIES)[:, None]).sum(1)
    fastest = np.abs(np.gradient(wave, CONTROL_DT, axis=1)).max(1)
    scale = np.minimum(amplitude / np.abs(wave).max(1), speed / fastest)
    ease = np.clip(np.minimum(t, t[-1] - t) / RAMP, 0, 1)
    targets = np.tile(cell.home_state, (len(t), 1))
    targets[:, :SIDE_DOF] += (scale[:, None] * wave * ease**2 * (3 - 2 * ease)).T
    return targets
