"""MuJoCo's OpenGL renderer with the cell's own fast settings."""

import mujoco
import numpy as np
from numpy.typing import NDArray

from generation.rendering.protocol import Frames
from robots.cell.initial import InitialState
from robots.cell.rendering import CellRenderer
from robots.cell.scene import Scene

Array = NDArray[np.float64]


class MujocoRenderer:
    """Draws states of `scene`, whose world, appearance and objects it shows; square images of side `size` [px]."""

    def __init__(self, scene: Scene, size: int) -> None:
        self._scene = scene
        self._renderer = CellRenderer(scene.model, size, scene.cell, scene.world)

    @property
    def views(self) -> tuple[str, ...]:
        """Names of the views."""
        return self._scene.cell.policy_views

    def render(self, initial: InitialState, qpos: Array) -> dict[str, Frames]:
        """Frames (F, H, W, 3) per view of states qpos (F, nq)."""
        scene = self._scene
        scene.reset(initial)
        out: dict[str, list[Frames]] = {view: [] for view in self.views}
        for q in qpos:
            scene.data.qpos[:] = q
            mujoco.mj_kinematics(scene.model, scene.data)
            mujoco.mj_comPos(scene.model, scene.data)
            mujoco.mj_camlight(scene.model, scene.data)
            for view in self.views:
                out[view].append(self._renderer.render(scene.data, view))
        return {view: np.stack(images) for view, images in out.items()}

    def close(self) -> None:
        """Free the OpenGL context."""
        self._renderer.close()
