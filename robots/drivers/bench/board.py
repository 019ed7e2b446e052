"""The calibration board of the bench: 9 x 6 inner corners, a plate that the operator lays down or fixes to the hand."""

import mujoco
import numpy as np
import numpy.typing as npt

CORNERS = (9, 6)
SQUARE = 0.02
MARGIN = 0.012
HIDDEN_AT = (0.0, 0.0, -5.0)


def add_board(spec: mujoco.MjSpec) -> None:
    """Add the plate as body `board` that can be put anywhere; it touches nothing and starts out of sight.

    The pattern lies in the plate's xy plane, its face looks along +z, and the first dark square is at -x, -y.
    """
    columns, rows = CORNERS[0] + 1, CORNERS[1] + 1
    body = spec.worldbody.add_body(name="board", mocap=True, pos=HIDDEN_AT)
    half = [columns * SQUARE / 2, rows * SQUARE / 2]
    kw = {"type": mujoco.mjtGeom.mjGEOM_BOX, "contype": 0, "conaffinity": 0}
    body.add_geom(
        size=[half[0] + MARGIN, half[1] + MARGIN, 0.002], pos=[0, 0, -0.002], rgba=[0.95, 0.95, 0.95, 1], **kw
    )
    for column in range(columns):
        for row in range(rows):
            if (column + row) % 2 == 0:
                center = [(column + 0.5) * SQUARE - half[0], (row + 0.5) * SQUARE - half[1], 0.0]
                body.add_geom(size=[SQUARE / 2, SQUARE / 2, 0.0004], pos=center, rgba=[0.03, 0.03, 0.03, 1], **kw)


def corner_points() -> npt.NDArray[np.float64]:
    """Inner corners in the board's frame, (54, 3) [m], row by row along x."""
    columns, rows = CORNERS
    x = (np.arange(columns) - (columns - 1) / 2) * SQUARE
    y = (np.arange(rows) - (rows - 1) / 2) * SQUARE
    grid_y, grid_x = np.meshgrid(y, x, indexing="ij")
    return np.stack([grid_x.ravel(), grid_y.ravel(), np.full(grid_x.size, 0.0004)], axis=1)
