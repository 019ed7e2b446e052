"""Clearance of the hand and what it carries from belt, bins and floor, from geometry alone.

The hand is a cloud of spheres along its capsules (palm and fingers, wide open), the surroundings are boxes. Coarse and
on the safe side; physics has the last word.
"""

from dataclasses import dataclass

import mujoco
import numpy as np

from generation.arrays import Array
from robots.cell.description import CellDescription
from robots.cell.mjcf import robot_spec
from robots.cell.world import WorldParameters

WALL = 0.004  # half thickness of a bin's wall [m]


@dataclass(frozen=True)
class Surroundings:
    """Boxes around the robot: centres (M, 3) and half sizes (M, 3) [m]."""

    centers: Array
    halves: Array

    @classmethod
    def of(cls, cell: CellDescription, world: WorldParameters) -> "Surroundings":
        """Belt, the walls of both bins, and the floor."""
        belt = cell.belt
        boxes = [(np.array(belt.center) + world.layout.belt_offset - [0, 0, belt.half_thickness],
                  [belt.half_width, belt.half_length, belt.half_thickness]),
                 (np.array([0.5, 0, -0.05]), [2, 2, 0.05])]  # fmt: skip
        for side in ("left", "right"):
            bin_ = cell.bin(side)
            x, y = np.array(bin_.center) + world.layout.bin_offset(side)
            hx, hy, hz = *bin_.half_extents, bin_.height / 2
            for dx, dy, sx, sy in ((hx, 0, WALL, hy), (-hx, 0, WALL, hy), (0, hy, hx, WALL), (0, -hy, hx, WALL)):
                boxes.append((np.array([x + dx, y + dy, hz]), [sx, sy, hz]))
        return cls(np.array([center for center, _ in boxes]), np.array([half for _, half in boxes]))

    def clearance(self, points: Array, radii: Array) -> Array:
        """Distance from each sphere (..., P), radii (P,), to the nearest box; negative inside it [m]."""
        outside = np.abs(points[..., None, :] - self.centers) - self.halves
        distance = np.linalg.norm(np.maximum(outside, 0), axis=-1) + np.minimum(outside.max(-1), 0)
        return distance.min(-1) - radii


@dataclass(frozen=True)
class HandSpheres:
    """Spheres that cover the open right hand, in the TCP frame."""

    points: Array  # (P, 3) [m]
    radii: Array  # (P,) [m]

    @classmethod
    def of(cls, cell: CellDescription, world: WorldParameters) -> "HandSpheres":
        """Read from the compiled hand with the fingers open."""
        model = robot_spec(cell, world, sides=("right",)).compile()
        data = mujoco.MjData(model)
        data.qpos[:] = cell.home_state[: model.nq]
        mujoco.mj_kinematics(model, data)
        tcp = model.site("right_hand_tcp").id
        R, origin = data.site_xmat[tcp].reshape(3, 3), data.site_xpos[tcp]
        points, radii = [], []
        for geom in range(model.ngeom):
            if not model.geom_contype[geom]:
                continue
            is_capsule = model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_CAPSULE
            axis = data.geom_xmat[geom].reshape(3, 3)[:, 2]
            reach = model.geom_size[geom, 1 if is_capsule else 2]
            radius = model.geom_size[geom, 0] if is_capsule else model.geom_size[geom, 1]
            for along in (-reach, 0.0, reach):
                points.append(R.T @ (data.geom_xpos[geom] + along * axis - origin))
                radii.append(radius)
        return cls(np.array(points), np.array(radii))

    def along(self, position: Array, rotation: Array) -> Array:
        """Sphere centres (T, P, 3) in the world along tool poses (T, 3), (T, 3, 3)."""
        return position[:, None] + np.einsum("tij,pj->tpi", rotation, self.points)
