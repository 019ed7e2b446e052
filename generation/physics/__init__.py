"""Physics engines: many simulations of one scene, stepped together under 50 Hz commands.

`Engine` is the whole contract between behaviors and physics. `CpuEngine` runs on `mujoco.batch`. A CUDA engine has the
same shape and belongs in `cuda.py` beside it: `mujoco_warp.put_model(model, batch_sizes={field: n})` for the fields of
`Start.fields`, `put_data` + `reset_data` for `Start.state`, one captured graph of `substeps` calls of `step`, and
`Data.overflow` for `Flag.OVERFLOW`. It joins when it passes the parity test of `tests/generation/test_physics.py`.
"""

from generation.physics.cpu import CpuEngine
from generation.physics.protocol import Engine, Flag, Rollout, Start, roll_out

__all__ = ["CpuEngine", "Engine", "Flag", "Rollout", "Start", "roll_out"]
