"""Action chunks handed over while the robot moves."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class ChunkPlayer:
    """Plays the newest chunk by elapsed control ticks, whatever its inference took.

    A chunk asked for at tick k and arriving at tick k+d goes on at its row d: rows that the robot has lived through are
    skipped. The first `blend` ticks after a hand-over mix old and new linearly, so that a command never jumps; past the
    last row, the last command is held.
    """

    def __init__(self, hold: Array, blend: int = 3) -> None:
        self._hold = np.asarray(hold, dtype=float)
        self._blend = blend
        self._current: tuple[int, Array] | None = None
        self._previous: tuple[int, Array] | None = None
        self._since = 0

    def submit(self, asked_at: int, actions: NDArray[np.floating], now: int) -> None:
        """Take over a chunk (K, n) that was asked for at tick `asked_at` and is here at tick `now`.

        Raises:
            ValueError: no rows, another width, or a number that is not finite.
        """
        rows = np.asarray(actions, dtype=np.float64)
        if rows.ndim != 2 or not len(rows) or rows.shape[1] != self._hold.size:
            raise ValueError(f"chunk of shape {rows.shape}, expected (K, {self._hold.size})")
        if not np.isfinite(rows).all():
            raise ValueError("chunk holds a number that is not finite")
        self._previous, self._current, self._since = self._current, (asked_at, rows), now

    def command(self, tick: int) -> Array:
        """The command (n,) at a tick."""
        if self._current is None:
            return self._hold
        new = _row(self._current, tick)
        weight = (tick - self._since + 1) / (self._blend + 1)
        if self._previous is None or weight >= 1:
            return new
        return (1 - weight) * _row(self._previous, tick) + weight * new


def _row(chunk: tuple[int, Array], tick: int) -> Array:
    asked_at, actions = chunk
    return actions[min(max(tick - asked_at, 0), len(actions) - 1)]
