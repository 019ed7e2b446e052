"""`CellRenderer`: images of a scene from its cameras, with settings that are fast on a CPU."""

import mujoco
import numpy as np
import numpy.typing as npt
from scipy.ndimage import gaussian_filter1d

from robots.cell.description import CellDescription
from robots.cell.fisheye import FisheyeTable, wide_size
from robots.cell.world import WorldParameters, distortion, intrinsics

Image = npt.NDArray[np.uint8]
DENSITY = 1.0  # pixels of the wide image for one of the fisheye image at its centre
_OFF = ("mjRND_SHADOW", "mjRND_REFLECTION", "mjRND_SKYBOX", "mjRND_HAZE")


class CellRenderer:
    """Renders one model at one image size. Close it, or use it as a context manager.

    A fisheye is sampled from a wider pinhole image, whose field of view is the one of the model's camera.

    Args:
        size: side of a square image, or (height, width) [px].
        cell, world: what the model was built from; they hold each camera's lens and blur.
    """

    def __init__(
        self, model: mujoco.MjModel, size: int | tuple[int, int], cell: CellDescription, world: WorldParameters
    ) -> None:
        self.height, self.width = (size, size) if isinstance(size, int) else size
        self._blur = {c.name: world.visual.camera(c.name).blur_sigma_px * self.height / c.height
                      for c in cell.cameras}  # fmt: skip
        self._tables, wide = self._fisheyes(model, cell, world)
        self._direct = _renderer(model, self.height, self.width)
        self._wide = _renderer(model, *wide) if self._tables else self._direct

    def render(self, data: mujoco.MjData, camera: str) -> Image:
        """RGB image from a camera, (height, width, 3)."""
        table = self._tables.get(camera)
        renderer = self._wide if table else self._direct
        renderer.update_scene(data, camera=camera)
        image = renderer.render()
        return blurred(table.look_up(image) if table else image, self._blur.get(camera, 0.0))

    def render_depth(self, data: mujoco.MjData, camera: str) -> npt.NDArray[np.float32]:
        """Distance along the optical axis, (height, width) [m]; raises ValueError for a fisheye."""
        if camera in self._tables:
            raise ValueError(f"camera {camera} is a fisheye and has no depth; only pinhole cameras have")
        self._direct.enable_depth_rendering()
        try:
            self._direct.update_scene(data, camera=camera)
            return self._direct.render().astype(np.float32)
        finally:
            self._direct.disable_depth_rendering()

    def _fisheyes(
        self, model: mujoco.MjModel, cell: CellDescription, world: WorldParameters
    ) -> tuple[dict[str, FisheyeTable], tuple[int, int]]:
        """Tables by camera, and the one size of the wide image that has pixels enough for each."""
        size = (self.height, self.width)
        lenses = {}
        for camera in cell.cameras:
            params = world.visual.camera(camera.name)
            k, fov = distortion(camera, params), float(np.radians(model.camera(camera.name).fovy[0]))
            if k is not None:
                lenses[camera.name] = (intrinsics(camera, params, self.width, self.height), k, fov)
        wide = max((wide_size(size, K[0, 0], fov, DENSITY) for K, _, fov in lenses.values()), default=size)
        return {name: FisheyeTable(K, k, size, wide, fov) for name, (K, k, fov) in lenses.items()}, wide

    def close(self) -> None:
        """Free the OpenGL contexts."""
        self._direct.close()
        self._wide.close()

    def __enter__(self) -> "CellRenderer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _renderer(model: mujoco.MjModel, height: int, width: int) -> mujoco.Renderer:
    """A renderer without what costs time and shows nothing here."""
    buffer = model.vis.global_
    buffer.offheight, buffer.offwidth = max(buffer.offheight, height), max(buffer.offwidth, width)
    renderer = mujoco.Renderer(model, height, width)
    for flag in _OFF:
        renderer.scene.flags[getattr(mujoco.mjtRndFlag, flag)] = 0
    return renderer


def blurred(image: Image, sigma: float) -> Image:
    """Gaussian blur [px]; below a tenth of a pixel nothing is done."""
    if sigma < 0.1:
        return image.copy()
    out = gaussian_filter1d(image.astype(np.float32), sigma, axis=0, truncate=3.0)
    return gaussian_filter1d(out, sigma, axis=1, truncate=3.0).round().astype(np.uint8)
