"""What a physics engine takes and gives, and the one loop over it."""

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from generation.arrays import Array

Indices = NDArray[np.int64]
IsOver = Callable[[int, Indices, Array, Array], NDArray[np.bool_]]


class Flag(IntEnum):
    """Health of a simulation since its reset; a flagged one is never exported as a success."""

    OK = 0
    OVERFLOW = 1  # contacts or constraints were dropped for lack of room
    NAN = 2  # the integrator met a bad position, velocity, acceleration or command


class Start(NamedTuple):
    """One simulation's beginning."""

    state: Array  # mjSTATE_INTEGRATION vector of the scene after its reset
    fields: Mapping[str, NDArray[np.generic]]  # MjModel field -> this simulation's whole array (mass, friction, ...)


class Rollout(NamedTuple):
    """Trajectories of n simulations; row k is the state before command k, rows after `ticks` repeat the last."""

    qpos: Array  # (n, T + 1, nq)
    qvel: Array  # (n, T + 1, nv)
    ticks: Indices  # (n,) control ticks that were simulated
    flags: Indices  # (n,) of Flag


class Engine(Protocol):
    """Up to `capacity` simulations of one compiled scene."""

    @property
    def capacity(self) -> int:
        """How many simulations it holds."""

    def reset(self, starts: Sequence[Start]) -> None:
        """Begin simulations 0..len(starts)-1; raises ValueError when there are none or too many."""

    def step(self, running: Indices, ctrl: Array) -> None:
        """Advance the simulations `running` (m,) by one control tick under ctrl (m, nu)."""

    def positions(self) -> Array:
        """Generalised positions of all simulations now, (n, nq)."""

    def velocities(self) -> Array:
        """Generalised velocities of all simulations now, (n, nv)."""

    def states(self) -> Array:
        """mjSTATE_INTEGRATION vectors of all simulations now, (n, ns): what `Start.state` is at the beginning."""

    def flags(self) -> Indices:
        """Health (n,) since the reset, as `Flag` values."""


def roll_out(engine: Engine, starts: Sequence[Start], ctrl: Array, is_over: IsOver | None = None) -> Rollout:
    """Run n command sequences ctrl (n, T, nu) from their starts.

    Args:
        is_over: called after each tick as is_over(ticks done, running, qpos, qvel) with the running simulations'
            states; those it marks are stepped no further.
    """
    n, T = ctrl.shape[:2]
    engine.reset(starts)
    qpos = np.empty((n, T + 1, engine.positions().shape[1]))
    qvel = np.empty((n, T + 1, engine.velocities().shape[1]))
    qpos[:, 0], qvel[:, 0] = engine.positions(), engine.velocities()
    running, ticks = np.arange(n), np.zeros(n, np.int64)
    for k in range(T):
        if len(running):
            engine.step(running, ctrl[running, k])
            ticks[running] += 1
        qpos[:, k + 1], qvel[:, k + 1] = engine.positions(), engine.velocities()
        if is_over is not None and len(running):
            running = running[~is_over(k + 1, running, qpos[running, k + 1], qvel[running, k + 1])]
    return Rollout(qpos, qvel, ticks, engine.flags())
