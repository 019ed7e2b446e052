"""Joint positions and commands of a recorded trial or rollout, thinned out for a plot."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from labapp.studies.recording import MAX_POINTS, RecordedTable

COLUMNS = {"state": "observation.state", "action": "action"}


def trial_series(recording: RecordedTable) -> dict[str, Any]:
    """``times_s`` (n), ``names`` (d), ``state`` and ``action`` (d lists of n values) [rad], ``duration_s``."""
    times = recording.times_s
    keep = np.unique(np.linspace(0, len(times) - 1, min(MAX_POINTS, len(times))).round().astype(int))
    return {
        "times_s": np.round(times[keep], 3).tolist(),
        "names": list(recording.names(COLUMNS["state"])),
        "duration_s": duration(times),
        **{key: rounded(recording.vectors(column)[keep]) for key, column in COLUMNS.items()},
    }


def duration(times: NDArray[np.float64]) -> float:
    """The last row lasts as long as the one before."""
    return round(float(times[-1] + (times[-1] - times[-2] if len(times) > 1 else 0)), 3) if len(times) else 0.0


def rounded(rows: NDArray[np.float64]) -> list[list[float]]:
    return np.round(rows.T, 4).tolist()
