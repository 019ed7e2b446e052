"""The CPU engine: `mujoco.batch` spreads simulations over threads, bit-identical to single ones at any thread count."""

import copy
from collections.abc import Sequence

import mujoco
import numpy as np
from mujoco.batch import Batch, SimulationError

from generation.physics.protocol import Array, Flag, Indices, Start

_WARNING_FLAGS = {
    mujoco.mjtWarning.mjWARN_CONTACTFULL: Flag.OVERFLOW,
    mujoco.mjtWarning.mjWARN_CNSTRFULL: Flag.OVERFLOW,
    mujoco.mjtWarning.mjWARN_BADQPOS: Flag.NAN,
    mujoco.mjtWarning.mjWARN_BADQVEL: Flag.NAN,
    mujoco.mjtWarning.mjWARN_BADQACC: Flag.NAN,
    mujoco.mjtWarning.mjWARN_BADCTRL: Flag.NAN,
}


class CpuEngine:
    """Simulations of `model`, `substeps` physics steps a control tick, on `threads` threads."""

    def __init__(self, model: mujoco.MjModel, capacity: int, substeps: int, threads: int = 1) -> None:
        own = copy.copy(model)
        own.flg_surfacevel = 1  # off where the belt stands in `model` now, and then it would stand in every simulation
        self._batch = Batch(own, capacity, threads)
        self._substeps, self._count = substeps, 0
        self._qpos, self._qvel, self._ctrl = (self._batch.bind(name) for name in ("qpos", "qvel", "ctrl"))
        self._failed = np.zeros(capacity, bool)

    @property
    def capacity(self) -> int:
        """How many simulations it holds."""
        return self._batch.nsim

    def reset(self, starts: Sequence[Start]) -> None:
        """Begin simulations 0..len(starts)-1; raises ValueError when there are none or too many."""
        if not 0 < len(starts) <= self.capacity:
            raise ValueError(f"{len(starts)} starts for an engine of 1 to {self.capacity} simulations")
        self._count = len(starts)
        self._batch.warning[:] = 0
        self._failed[:] = False
        for name in {name for start in starts for name in start.fields}:
            rows = self._batch.expand(name)
            for i, start in enumerate(starts):
                rows[i] = start.fields[name]
        for i, start in enumerate(starts):
            self._batch.state[i] = start.state

    def step(self, running: Indices, ctrl: Array) -> None:
        """Advance the simulations `running` (m,) by one control tick under ctrl (m, nu)."""
        self._ctrl[running] = ctrl
        try:
            self._batch.step(running, nstep=self._substeps)
        except SimulationError as error:
            self._failed[error.ids] = True

    def positions(self) -> Array:
        """Generalised positions of all simulations now, (n, nq)."""
        return self._qpos[: self._count]

    def velocities(self) -> Array:
        """Generalised velocities of all simulations now, (n, nv)."""
        return self._qvel[: self._count]

    def states(self) -> Array:
        """mjSTATE_INTEGRATION vectors of all simulations now, (n, ns)."""
        return self._batch.state[: self._count]

    def flags(self) -> Indices:
        """Health (n,) since the reset, from MuJoCo's warning counters, its errors and the numbers themselves."""
        counts = self._batch.warning[: self._count, :, 1]
        flags = np.zeros(self._count, np.int64)
        for warning, flag in _WARNING_FLAGS.items():
            flags = np.where(counts[:, int(warning)] > 0, np.maximum(flags, int(flag)), flags)
        finite = np.isfinite(self.positions()).all(1) & np.isfinite(self.velocities()).all(1)
        return np.where(finite & ~self._failed[: self._count], flags, int(Flag.NAN))
