"""`CellRenderer`: images of a scene from its cameras, with settings that are fast on a CPU."""

import mujoco
import numpy as np
import numpy.typing as npt
from scipy.ndimage import gaussian_filter1d

from robots.cell.description import CellDescription
from robots.cell.world import WorldParameters

Image = npt.NDArray[np.uint8]
_OFF = ("mjRND_SHADOW", "mjRND_REFLECTION", "mjRND_SKYBOX", "mjRND_HAZE")


class CellRenderer:
    """Renders one model at one image size. Close it, or use it as a context manager.

    Args:
        size: side of a square image, or (height, width) [px].
        cell, world: give both to apply each camera's blur.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        size: int | tuple[int, int],
        cell: CellDescription | None = None,
        world: WorldParameters | None = None,
    ) -> None:
        self.height, self.width = (size, size) if isinstance(size, int) else size
        model.vis.global_.offheight = max(model.vis.global_.offheight, self.height)
        model.vis.global_.offwidth = max(model.vis.global_.offwidth, self.width)
        self._renderer = mujoco.Renderer(model, self.height, self.width)
        for flag in _OFF:
            self._renderer.scene.flags[getattr(mujoco.mjtRndFlag, flag)] = 0
        self._blur = {}
        if cell is not None and world is not None:
            self._blur = {c.name: world.visual.camera(c.name).blur_sigma_px * self.height / c.height
                          for c in cell.cameras}  # fmt: skip

    def render(self, data: mujoco.MjData, camera: str) -> Image:
        """RGB image from a camera, (height, width, 3)."""
        self._renderer.update_scene(data, camera=camera)
        image = self._renderer.render()
        return blurred(image, self._blur.get(camera, 0.0))

    def render_depth(self, data: mujoco.MjData, camera: str) -> npt.NDArray[np.float32]:
        """Distance along the optical axis, (height, width) [m]."""
        self._renderer.enable_depth_rendering()
        try:
            self._renderer.update_scene(data, camera=camera)
            return self._renderer.render().astype(np.float32)
        finally:
            self._renderer.disable_depth_rendering()

    def close(self) -> None:
        """Free the OpenGL context."""
        self._renderer.close()

    def __enter__(self) -> "CellRenderer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def blurred(image: Image, sigma: float) -> Image:
    """Gaussian blur [px]; below a tenth of a pixel nothing is done."""
    if sigma < 0.1:
        return image.copy()
    out = gaussian_filter1d(image.astype(np.float32), sigma, axis=0, truncate=3.0)
    return gaussian_filter1d(out, sigma, axis=1, truncate=3.0).round().astype(np.uint8)
