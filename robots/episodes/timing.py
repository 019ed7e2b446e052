"""Time steps of episodes: checked within an episode only, never across its end."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass
class Jitter:
    """Deviation of time steps from 1/fps, gathered episode by episode.

    Attributes:
        fps: nominal rows a second.
    """

    fps: float
    _deviations: list[NDArray[np.float64]] = field(default_factory=list)

    def add(self, timestamps: NDArray[Any]) -> float:
        """Count one episode's (T,) timestamps; returns its largest deviation [s]."""
        deviations = np.abs(np.diff(np.asarray(timestamps, dtype=np.float64)) - 1.0 / self.fps)
        self._deviations.append(deviations)
        return float(deviations.max(initial=0.0))

    def report(self) -> dict[str, float]:
        """`max_s` and `p99_s` over all episodes; zeros when there was no step."""
        pooled = np.concatenate(self._deviations) if self._deviations else np.zeros(0)
        if pooled.size == 0:
            return {"max_s": 0.0, "p99_s": 0.0}
        return {"max_s": float(pooled.max()), "p99_s": float(np.quantile(pooled, 0.99))}


def step_back(timestamps: NDArray[Any]) -> int | None:
    """The first row whose time is not later than the row before it; None when time only moves forward."""
    found = np.flatnonzero(np.diff(np.asarray(timestamps, dtype=np.float64)) <= 0)
    return int(found[0]) + 1 if found.size else None
