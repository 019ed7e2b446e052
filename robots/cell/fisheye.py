"""A fisheye image sampled from a pinhole image that is drawn wider. The table is built once a camera and size."""

import cv2
import numpy as np
import numpy.typing as npt

from robots.cell.lens import Distortion, tangents

Image = npt.NDArray[np.uint8]
Size = tuple[int, int]
_OUTSIDE = -10.0  # a place that no pixel of the wide image reaches


class FisheyeTable:
    """For each pixel of a fisheye image, the place in the wide image that shows the same ray.

    Args:
        K, k: camera matrix (3, 3) [px] and k1..k4 of the fisheye image. size: its (height, width) [px].
        wide_size, wide_fov: (height, width) [px] and vertical field of view [rad] of the pinhole image.
    """

    def __init__(self, K: npt.NDArray[np.float64], k: Distortion, size: Size, wide_size: Size, wide_fov: float) -> None:
        height, width = size
        pixels = np.stack(np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5), axis=-1)
        focal = wide_size[0] / (2.0 * np.tan(wide_fov / 2.0))
        places = np.array(wide_size[::-1]) / 2 + focal * tangents(pixels, K[0, 0], K[:2, 2], k)
        self.is_covered = ((places >= 0) & (places <= wide_size[::-1])).all(axis=-1)
        at = np.where(self.is_covered[..., None], places - 0.5, _OUTSIDE).astype(np.float32)
        self._places, self._fractions = cv2.convertMaps(at, np.empty(0, np.float32), cv2.CV_16SC2)

    def look_up(self, wide: Image) -> Image:
        """The fisheye image (height, width, 3), bilinear; black where the wide image does not reach."""
        image = cv2.remap(wide, self._places, self._fractions, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)
        return np.asarray(image, np.uint8)


def wide_size(size: Size, focal: float, fov: float, density: float) -> Size:
    """(height, width) [px] of a pinhole image of vertical field of view `fov` [rad] to sample an image `size` from.

    It has the same aspect, and at its centre `density` times the pixels of the fisheye of that focal length [px].
    """
    height = int(np.ceil(2.0 * density * focal * np.tan(fov / 2.0)))
    return height, int(np.ceil(height * size[1] / size[0]))
