"""Images of simulated trajectories.

`FrameRenderer` is the whole contract: states in, frames per view out. `MujocoRenderer` draws with OpenGL. Ray tracing
with mujoco_warp and Isaac Sim (which takes USD and hands back frames) join as modules beside it, one class each.
"""

from generation.rendering.opengl import MujocoRenderer
from generation.rendering.protocol import FrameRenderer, frame_ticks
from generation.rendering.watchdog import RenderFaultError, check_frames

__all__ = ["FrameRenderer", "MujocoRenderer", "RenderFaultError", "check_frames", "frame_ticks"]
