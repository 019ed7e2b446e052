"""Joint positions and commands of a recorded trial, thinned out for a plot."""

import io
import json
from typing import Any

import numpy as np

from labapp import storage
from labapp.studies.models import Trial

MAX_POINTS = 400
COLUMNS = {"state": "observation.state", "action": "action"}


class SeriesMissing(LookupError):
    """The trial has no recording (yet); the message says so."""


def trial_series(trial: Trial) -> dict[str, Any]:
    """``times_s`` (n), ``names`` (d), ``state`` and ``action`` (d lists of n values) [rad].

    Raises:
        SeriesMissing: nothing recorded, or not uploaded yet.
    """
    import pyarrow.parquet as pq

    if not trial.episode_prefix:
        raise SeriesMissing("This trial has no recording yet.")
    entries = storage.folder_manifest(trial.episode_prefix)
    data = next((path for path in sorted(entries) if path.startswith("data/") and path.endswith(".parquet")), None)
    if data is None:
        raise SeriesMissing("The recording of this trial has no table.")
    names = ["timestamp", *COLUMNS.values()]
    table = pq.read_table(io.BytesIO(storage.get_bytes(f"{trial.episode_prefix}/{data}")), columns=names)
    keep = np.unique(np.linspace(0, table.num_rows - 1, min(MAX_POINTS, table.num_rows)).round().astype(int))
    return {
        "times_s": np.round(table["timestamp"].to_numpy()[keep], 3).tolist(),
        "names": joint_names(trial),
        **{key: rounded(table[column], keep) for key, column in COLUMNS.items()},
    }


def rounded(column: Any, keep: np.ndarray) -> list[list[float]]:
    values = np.stack(column.to_numpy(zero_copy_only=False))[keep]
    return np.round(values.T.astype(float), 4).tolist()


def joint_names(trial: Trial) -> list[str]:
    """Names as the recording's info.json gives them."""
    info = json.loads(storage.get_bytes(f"{trial.episode_prefix}/meta/info.json"))
    return list(info["features"][COLUMNS["state"]].get("names") or [])
