"""The hidden truth of a bench: world parameters drawn from a seed, off the description by what real cells are off.

Only the bench process and its tests import this module; calibration and generation must measure instead.
"""

from dataclasses import replace

import numpy as np

from robots.cell.description import CellDescription
from robots.cell.world import (
    CameraParameters,
    DynamicsParameters,
    LayoutParameters,
    VisualParameters,
    WorldParameters,
    vec3,
)

BELT_ERROR = np.array([0.024, 0.018, 0.014])
BIN_SPREAD = 0.006
WRIST_FOCAL_RATIO = 252.0 / 229.0
HEAD_ERROR = (0.0301, np.radians(1.7))
WRIST_ERROR = (0.004, np.radians(1.2))
WRIST_DISTORTION_SPREAD = np.array([0.015, 0.005, 0.002, 0.0005])
EXTERNAL_ERROR = (0.0005, np.radians(0.03))  # registered to the base when the cell was built


def draw_true_world(cell: CellDescription, seed: int) -> WorldParameters:
    """True parameters of the bench with this seed; every seed is off by a like amount, in other directions."""
    rng = np.random.default_rng([seed, 0x67726F756E64])
    lenses = np.random.default_rng([seed, 0x6C656E73])
    return WorldParameters(_visual(rng, lenses), _layout(rng), _dynamics(rng), cell.name)


def _layout(rng: np.random.Generator) -> LayoutParameters:
    """The belt is off by about 24 and 18 mm sideways and stands about 14 mm above where the description has it."""
    sign = np.array([*rng.choice([-1.0, 1.0], 2), 1.0])
    belt = BELT_ERROR * sign * rng.uniform(0.85, 1.1, 3)
    left, right = np.clip(rng.normal(0, BIN_SPREAD, (2, 2)), -2 * BIN_SPREAD, 2 * BIN_SPREAD)
    return LayoutParameters(vec3(belt), _pair(left), _pair(right))


def _dynamics(rng: np.random.Generator) -> DynamicsParameters:
    return DynamicsParameters(
        kp_scale=_tuple(0.8 * rng.uniform(0.94, 1.06, 7)),
        kv_scale=_tuple(1.2 * rng.uniform(0.94, 1.06, 7)),
        armature_scale=float(rng.uniform(0.95, 1.08)),
        damping=float(rng.uniform(0.0, 0.5)),
        hand_kp_scale=float(rng.uniform(0.92, 1.08)),
        hand_kv_scale=float(rng.uniform(0.9, 1.1)),
        delay=float(rng.uniform(0.030, 0.040)),
        friction_scale=float(rng.uniform(0.88, 1.05)),
    )


def _visual(rng: np.random.Generator, lenses: np.random.Generator) -> VisualParameters:
    def camera(error: tuple[float, float], focal: float, blur: float) -> CameraParameters:
        shift, turn = error
        return CameraParameters(focal, vec3(shift * _direction(rng)), vec3(turn * _direction(rng)), blur)

    def wrist_camera(focal: float) -> CameraParameters:
        k1, k2, k3, k4 = (lenses.uniform(-1, 1, 4) * WRIST_DISTORTION_SPREAD).tolist()
        return replace(camera(WRIST_ERROR, focal, rng.uniform(0.6, 1.0)), distortion_offset=(k1, k2, k3, k4))

    wrist = [WRIST_FOCAL_RATIO * rng.uniform(0.995, 1.005) for _ in range(2)]
    return VisualParameters(
        cameras={
            "head": camera(HEAD_ERROR, 1.0, rng.uniform(0.5, 0.9)),
            "right_wrist": wrist_camera(wrist[0]),
            "left_wrist": wrist_camera(wrist[1]),
            "external": camera(EXTERNAL_ERROR, 1.0, 0.0),
        },
        light_color=vec3(np.array([1.0, 0.95, 0.88]) * rng.uniform(0.97, 1.03, 3)),
        light_intensity=float(rng.uniform(0.85, 1.1)),
    )


def _direction(rng: np.random.Generator) -> np.ndarray:
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def _pair(values: np.ndarray) -> tuple[float, float]:
    return float(values[0]), float(values[1])


def _tuple(values: np.ndarray) -> tuple[float, ...]:
    return tuple(float(v) for v in values)
