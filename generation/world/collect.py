"""Drive a cell to collect what registration needs. The only part of registration that moves anything.

It uses the drivers, and a person's hands for the board and the objects; never the referee.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from generation.arrays import Array
from generation.world.bundle import BoardView
from generation.world.corners import find_corners
from generation.world.identification import JointRecording
from robots.cell.description import ARM_DOF, CONTROL_DT, CameraDescription, CellDescription
from robots.cell.initial import InitialState
from robots.cell.kinematics import ArmKinematics
from robots.cell.lens import project
from robots.cell.world import CameraParameters, camera_pose, intrinsics
from robots.drivers.protocols import CellDrivers
from robots.perception.sighting import NothingSeenError, ObjectSighting, see_object

MOVE_TIME, SETTLE_TIME = 0.8, 0.4  # s
BOARD_DISTANCE = 0.30  # m from a wrist camera to the board
FINGERS_AWAY = np.tile([-1.0, 0.0, -0.6, -0.4], 5)  # bent back, out of the wrist camera's sight [rad]
FINGERS_AWAY[:4] = [-1.1, 0.6, -0.9, -0.9]
SHIFT, TURN = 0.06, 0.35  # how far views differ from each other [m], [rad]
FISHEYE_SHIFT = 0.15  # sideways and up: a fisheye's bend shows towards the rim of its image [m]
TRIES = 800  # poses tried for one camera
IMAGES_PER_VIEW = 4  # images taken at most for each view wanted


class Hands(Protocol):
    """What the person at the cell is asked to do."""

    def place(self, initial: InitialState) -> None:
        """Lay an object on the belt."""

    def clear(self) -> None:
        """Take it away and stop the belt."""

    def put_board(self, where: str, position: Sequence[float], quat_wxyz: Sequence[float]) -> None:
        """Put the calibration board into the world, onto the hand, or away."""


class Collector:
    """Recordings and images of one cell."""

    def __init__(self, cell: CellDescription, drivers: CellDrivers, hands: Hands) -> None:
        self.cell, self._drivers, self._hands = cell, drivers, hands
        self._right, self._left = ArmKinematics(cell), ArmKinematics(cell, "left")

    def joints(self, targets: Array) -> JointRecording:
        """Play joint targets (T, 54) from the home posture and measure the answer."""
        self._go_home()
        measured = []
        for target in targets:
            self._drivers.command(target)
            self._drivers.tick()
            measured.append(self._drivers.state())
        return JointRecording(targets, np.array(measured))

    def board(
        self, camera: CameraDescription, corners: Array, pattern: tuple[int, int], count: int, rng: np.random.Generator
    ) -> tuple[list[BoardView], int]:
        """Images of the checkerboard from different arm poses.

        The board stands in the world for the right wrist's camera; for all others it is fixed to the right hand.

        Args:
            corners: (N, 3) in the board's frame [m]. pattern: inner corners (columns, rows).

        Returns:
            The views in which it was found, and the number of images taken.
        """
        self._go_home()
        on_wrist = camera.parent == "right_wrist"
        T_world_board = self._facing(camera)
        T_wrist_board = np.linalg.inv(self._right.wrist(np.array(self.cell.q_home))) @ T_world_board
        where, T = ("world", T_world_board) if on_wrist else ("right_hand", T_wrist_board)
        quat = Rotation.from_matrix(T[:3, :3]).as_quat(scalar_first=True)
        self._hands.put_board(where, T[:3, 3].tolist(), quat.tolist())
        views: list[BoardView] = []
        images = 0
        for q in self._poses(camera, T, corners, rng):
            if len(views) == count or images == IMAGES_PER_VIEW * count:
                break
            self._move(q)
            found = find_corners(self._drivers.cameras[camera.name].capture().rgb, pattern)
            images += 1
            if found is not None:
                T_world_wrist = self._right.wrist(self._drivers.state()[:ARM_DOF])
                views.append(BoardView(found, np.linalg.inv(T_world_wrist) if on_wrist else T_world_wrist))
        self._hands.put_board("away", (0, 0, 0), (1, 0, 0, 0))
        self._go_home()
        return views, images

    def objects(self, initials: Sequence[InitialState], external: CameraParameters) -> list[ObjectSighting | None]:
        """Lay objects down one after the other and look at each; None where nothing was seen."""
        out: list[ObjectSighting | None] = []
        for initial in initials:
            self._hands.place(initial)
            frame = self._drivers.cameras["external"].capture()
            try:
                out.append(see_object(frame, self.cell, self.cell.object(initial.object), external))
            except NothingSeenError:
                out.append(None)
        self._hands.clear()
        return out

    def depth(self) -> NDArray[np.float32]:
        """Distances the external camera sees of the empty cell (H, W) [m]."""
        depth = self._drivers.cameras["external"].capture().depth
        if depth is None:
            raise NothingSeenError("the external camera gives no depth")
        return depth

    def left_wrist(self) -> Array:
        """`T_world_wrist` (4, 4) of the left arm as it stands."""
        side = len(self.cell.joint_names) // 2
        return self._left.wrist(self._drivers.state()[side : side + ARM_DOF])

    def parent(self, camera: CameraDescription, q: Array) -> Array:
        """`T_world_parent` (4, 4) of a camera with the right arm at q (7,)."""
        if camera.parent == "world":
            return np.eye(4)
        return self._right.wrist(q) if camera.parent == "right_wrist" else self.left_wrist()

    def _facing(self, camera: CameraDescription) -> Array:
        """`T_world_board`: upright before the camera as it is described, near where the hand is at home."""
        T_camera = self.parent(camera, np.array(self.cell.q_home)) @ camera_pose(camera, CameraParameters())
        hand = self._right.wrist(np.array(self.cell.q_home))[:3, 3]
        T = np.eye(4)
        T[:3, :3] = T_camera[:3, :3] @ np.diag([1.0, -1.0, -1.0])
        distance = BOARD_DISTANCE
        if camera.parent != "right_wrist":
            distance = float((hand - T_camera[:3, 3]) @ T_camera[:3, 2]) - 0.10
        T[:3, 3] = T_camera[:3, 3] + distance * T_camera[:3, 2]
        return T

    def _poses(self, camera: CameraDescription, T: Array, corners: Array, rng: np.random.Generator) -> Iterator[Array]:
        """Arm postures (7,) from which the described camera would see the whole board well."""
        home = np.array(self.cell.q_home)
        position, R = self._right.fk(home)
        shift = SHIFT if camera.distortion is None else FISHEYE_SHIFT
        lowest = [-shift, -shift, -SHIFT]  # the belt is below
        for _ in range(TRIES):
            turn = Rotation.from_rotvec(rng.uniform(-TURN, TURN, 3)).as_matrix()
            wanted = position + rng.uniform(lowest, shift)
            q = self._right.solve(wanted, turn @ R, home, iterations=60)
            if np.linalg.norm(self._right.fk(q)[0] - wanted) < 0.02 and self._sees(camera, q, T, corners):
                yield q

    def _sees(self, camera: CameraDescription, q: Array, T: Array, corners: Array) -> bool:
        T_world_board = T if camera.parent == "right_wrist" else self._right.wrist(q) @ T
        T_world_camera = self.parent(camera, q) @ camera_pose(camera, CameraParameters())
        p = (np.c_[corners, np.ones(len(corners))] @ (np.linalg.inv(T_world_camera) @ T_world_board).T)[:, :3]
        if p[:, 2].min() < 0.05:
            return False
        K = intrinsics(camera, CameraParameters(), camera.width, camera.height)
        u = project(p, K[0, 0], K[:2, 2], camera.distortion)
        size = np.array([camera.width, camera.height])
        return bool((u > 0.1 * size).all() and (u < 0.9 * size).all())

    def _move(self, q: Array) -> None:
        """Bring the right arm to a posture and let it come to rest."""
        start = self._drivers.state()
        target = self.cell.home_state
        target[:ARM_DOF] = q
        target[ARM_DOF : ARM_DOF + 20] = FINGERS_AWAY
        ticks = round(MOVE_TIME / CONTROL_DT)
        for k in range(ticks + round(SETTLE_TIME / CONTROL_DT)):
            s = min((k + 1) / ticks, 1.0)
            self._drivers.command(start + (3 * s**2 - 2 * s**3) * (target - start))
            self._drivers.tick()

    def _go_home(self) -> None:
        self._hands.clear()
        self._drivers.tick()
        for _ in range(25):
            self._drivers.command(self.cell.home_state)
            self._drivers.tick()
