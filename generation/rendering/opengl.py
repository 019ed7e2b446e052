"""MuJoCo's OpenGL renderer with the cell's own fast settings."""

import mujoco
import numpy as np
from numpy.typing import NDArray

from generation.arrays import Array
from generation.rendering.protocol import Frames
from robots.cell.initial import InitialState
from robots.cell.rendering import CellRenderer
from robots.cell.scene import Scene


class MujocoRenderer:
    """Draws states of `scene`, whose world, appearance and objects it shows; square images of side `size` [px].

    On a CPU the time goes into vertices, and a wrist camera sees a third of the cell: geoms outside a camera's view are
    left out before drawing, which changes no pixel.
    """

    def __init__(self, scene: Scene, size: int) -> None:
        self._scene = scene
        self._renderer = CellRenderer(scene.model, size, scene.cell, scene.world)
        self._camera_ids = {view: scene.model.camera(view).id for view in self.views}

    @property
    def views(self) -> tuple[str, ...]:
        """Names of the views."""
        return self._scene.cell.policy_views

    def render(self, initial: InitialState, qpos: Array) -> dict[str, Frames]:
        """Frames (F, H, W, 3) per view of states qpos (F, nq)."""
        scene = self._scene
        scene.reset(initial)
        alpha = scene.model.geom_rgba[:, 3].copy()
        out: dict[str, list[Frames]] = {view: [] for view in self.views}
        for q in qpos:
            scene.data.qpos[:] = q
            mujoco.mj_kinematics(scene.model, scene.data)
            mujoco.mj_comPos(scene.model, scene.data)
            mujoco.mj_camlight(scene.model, scene.data)
            for view in self.views:
                scene.model.geom_rgba[:, 3] = np.where(self._in_sight(view), alpha, 0)
                out[view].append(self._renderer.render(scene.data, view))
        scene.model.geom_rgba[:, 3] = alpha
        return {view: np.stack(images) for view, images in out.items()}

    def _in_sight(self, view: str) -> NDArray[np.bool_]:
        """Which geoms' bounding spheres (all of a plane) reach into the square pyramid that a view sees."""
        model, data, camera = self._scene.model, self._scene.data, self._camera_ids[view]
        local = (data.geom_xpos - data.cam_xpos[camera]) @ data.cam_xmat[camera].reshape(3, 3)
        half = np.radians(model.cam_fovy[camera]) / 2
        beyond = np.abs(local[:, :2]) * np.cos(half) + local[:, 2:] * np.sin(half)
        return (beyond < model.geom_rbound[:, None]).all(1) | (model.geom_rbound == 0)

    def close(self) -> None:
        """Free the OpenGL context."""
        self._renderer.close()
