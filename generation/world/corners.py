"""The corners of a checkerboard in an image. Pure."""

import cv2
import numpy as np
from numpy.typing import NDArray

from generation.arrays import Array


def find_corners(image: NDArray[np.uint8], pattern: tuple[int, int]) -> Array | None:
    """Inner corners (N, 2) [px] of a checkerboard, row by row along x with y up and the first dark square at -x, -y.

    None where the board is not seen whole.
    """
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    found, corners = cv2.findChessboardCornersSB(grey, pattern, flags=cv2.CALIB_CB_EXHAUSTIVE | cv2.CALIB_CB_ACCURACY)
    if not found:
        return None
    columns, rows = pattern
    grid = corners.reshape(rows, columns, 2).astype(float)
    along, up = grid[0, -1] - grid[0, 0], grid[-1, 0] - grid[0, 0]
    if along[0] * up[1] - along[1] * up[0] > 0:  # y must point up when seen from the front
        grid = grid[::-1]
    if not _is_dark_first(grey, grid):
        grid = grid[::-1, ::-1]
    return grid.reshape(-1, 2) + 0.5


def _is_dark_first(grey: Array, grid: Array) -> bool:
    """Whether the squares between the corners are dark where they are on the board: on the diagonal from the first.

    They decide together and never the squares outside, as something may stand before those.
    """
    middles = (grid[:-1, :-1] + grid[1:, :-1] + grid[:-1, 1:] + grid[1:, 1:]) / 4
    x, y = np.moveaxis(middles.round().astype(int), -1, 0)
    is_even = np.add.outer(np.arange(x.shape[0]), np.arange(x.shape[1])) % 2 == 0
    return bool(grey[y, x][is_even].mean() < grey[y, x][~is_even].mean())
