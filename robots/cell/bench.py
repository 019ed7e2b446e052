"""The one preset: two Rizon 4S with Wuji Hand 2 at a belt between two bins, as drawn in CAD."""

import math

from robots.cell import handshapes
from robots.cell.description import (
    ArmDescription,
    ArmJoint,
    BeltDescription,
    BinDescription,
    CameraDescription,
    CellDescription,
    HandDescription,
    ObjectDescription,
)

_TURN = (0.0, 0.0, 0.0, 1.0)
_NONE = (1.0, 0.0, 0.0, 0.0)
_WRIST = (math.sqrt(0.5), 0.0, -math.sqrt(0.5), 0.0)

# Public numbers of the Rizon 4S (kinematics, ranges, effort and velocity limits, inertia); gains chosen stiff enough to
# follow a belt without sagging.
RIZON_4S = (
    ArmJoint((0, 0, 0.155), _TURN, "z", -2.8798, 2.8798, 123, 2.0944, 3.17, 3.60, (0, 0, 0.15),
             (0.027, 0.027, 0.007), 2400, 180, (0, 0.03, 0.21, 0.06)),
    ArmJoint((0, 0.03, 0.21), _NONE, "y", -2.3562, 2.3562, 123, 2.0944, 3.17, 2.69, (0, 0.036, 0.10),
             (0.024, 0.023, 0.004), 2800, 210, (0, 0.035, 0.205, 0.06)),
    ArmJoint((0, 0.035, 0.205), _NONE, "z", -3.0543, 3.0543, 64, 2.4435, 1.38, 2.35, (-0.012, 0, 0.137),
             (0.0146, 0.0137, 0.0038), 1100, 80, (-0.02, -0.03, 0.19, 0.055)),
    ArmJoint((-0.02, -0.03, 0.19), _TURN, "y", -1.9548, 2.7751, 64, 2.4435, 1.38, 2.35, (-0.013, 0.031, 0.103),
             (0.0186, 0.018, 0.0027), 1100, 80, (-0.02, 0.025, 0.195, 0.05)),
    ArmJoint((-0.02, 0.025, 0.195), _TURN, "z", -3.0543, 3.0543, 39, 4.8869, 0.13, 2.31, (0, 0.001, 0.136),
             (0.0142, 0.0135, 0.0037), 240, 13, (0, 0.03, 0.19, 0.05)),
    ArmJoint((0, 0.03, 0.19), _NONE, "y", -1.4835, 4.6251, 39, 4.8869, 0.13, 2.22, (0.02, 0.06, 0.072),
             (0.01, 0.0083, 0.0034), 240, 13, (-0.015, 0.073, 0.11, 0.045)),
    ArmJoint((-0.015, 0.073, 0.11), _WRIST, "z", -3.0543, 3.0543, 39, 4.8869, 0.13, 1.40, (0, 0, 0.054),
             (0.0032, 0.0032, 0.0018), 190, 10, (0, 0, 0.10, 0.04)),
)  # fmt: skip

# The wrist lens's own distortion is not published: k1..k4 of an everyday equidistant lens stand for its data sheet.
WRIST_DISTORTION = (-0.02, 0.005, -0.003, 0.0005)

CAMERAS = (
    CameraDescription("head", "world", (0.05, 0.12, 1.10), (0.66, -0.20, 0.05), 808.6, 720, 720),
    CameraDescription("right_wrist", "right_wrist", (0.006, 0.075, 0.035), (0.02, 0.012, -0.14), 229.0, 320, 320,
                      distortion=WRIST_DISTORTION),
    CameraDescription("left_wrist", "left_wrist", (0.006, 0.075, 0.035), (0.006, 0.075, -1.0), 229.0, 320, 320,
                      up=(0.0, 1.0, 0.0), distortion=WRIST_DISTORTION),
    CameraDescription("external", "world", (1.35, -0.10, 0.80), (0.70, -0.12, 0.08), 600.0, 640, 480,
                      has_depth=True, is_policy_view=False),
)  # fmt: skip

OBJECTS = (
    ObjectDescription("box", "box", (0.025, 0.025, 0.030), 0.16, (0.85, 0.20, 0.20, 1.0)),
    ObjectDescription("can", "cylinder", (0.025, 0.040), 0.19, (0.25, 0.65, 0.30, 1.0)),
    ObjectDescription("bottle", "cylinder", (0.0275, 0.080), 0.20, (0.30, 0.70, 0.85, 1.0)),
    ObjectDescription("ball", "ball", (0.0225,), 0.10, (0.95, 0.80, 0.15, 1.0), grasp_depth=0.0245),
    ObjectDescription("carton", "box", (0.020, 0.030, 0.025), 0.12, (0.75, 0.55, 0.35, 1.0), is_novel=True),
    ObjectDescription("jar", "cylinder", (0.030, 0.0275), 0.17, (0.70, 0.35, 0.75, 1.0), is_novel=True),
)

BENCH_CELL = CellDescription(
    name="rizon4s_wuji2_dual",
    right_arm=ArmDescription((0.0, -0.30, 0.0), RIZON_4S),
    left_arm=ArmDescription((0.0, 0.30, 0.0), RIZON_4S),
    right_hand=HandDescription("right"),
    left_hand=HandDescription("left"),
    cameras=CAMERAS,
    belt=BeltDescription((0.765, -0.25, 0.10), 0.09, 0.75),
    left_bin=BinDescription((0.58, -0.04), color=(0.20, 0.45, 0.80, 1.0), drop_yaw=math.radians(25)),
    right_bin=BinDescription((0.58, -0.56), color=(0.85, 0.50, 0.15, 1.0), drop_yaw=math.radians(-25)),
    objects=OBJECTS,
    home=(0.66, -0.30, 0.27),
    q_home=(0.43897, -0.47014, -0.18022, 2.13706, 0.44567, 1.99507, -0.18165),
    q_left_hold=(-2.049, 0.9069, 1.7669, 2.2694, -0.8791, 1.3903, -1.0535),
    hand_open=tuple(handshapes.OPEN.tolist()),
    left_hand_hold=(0.0,) * 20,
    pick_y=-0.34,
)
