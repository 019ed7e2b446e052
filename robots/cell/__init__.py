"""The cell: its frozen description, its worlds, and the MuJoCo scene built from both."""

import os
import sys

if sys.platform == "linux":
    # Read when mujoco is first imported: robot PCs and workers have no display to open a window on.
    os.environ.setdefault("MUJOCO_GL", "egl")
