"""Depth images to points in the world. Pure."""

import numpy as np
import numpy.typing as npt

from robots.cell.description import CameraDescription
from robots.cell.world import CameraParameters, camera_pose, distortion, intrinsics

Array = npt.NDArray[np.float64]


def world_points(depth: npt.NDArray[np.float32], camera: CameraDescription, params: CameraParameters) -> Array:
    """Points (height, width, 3) [m] in the world seen by a camera that stands in the world.

    X_w = T_world_camera (K^-1 [u v 1]^T z), with pixel centres at half-integers.

    Raises:
        ValueError: the camera is carried by a wrist, or is a fisheye.
    """
    if camera.parent != "world":
        raise ValueError(f"camera {camera.name} moves with {camera.parent}; world points need a standing camera")
    if distortion(camera, params) is not None:
        raise ValueError(f"camera {camera.name} is a fisheye; world points need a pinhole's depth image")
    height, width = depth.shape
    K = intrinsics(camera, params, width, height)
    u, v = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
    rays = np.stack([(u - K[0, 2]) / K[0, 0], (v - K[1, 2]) / K[1, 1], np.ones_like(u)], axis=-1)
    T = camera_pose(camera, params)
    return (rays * depth[..., None]) @ T[:3, :3].T + T[:3, 3]
