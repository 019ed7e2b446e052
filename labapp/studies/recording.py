"""The table of a trial's recording in the object store: which features it has, their names and values."""

import io
import json
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labapp import storage
from labapp.studies.models import Trial

MAX_POINTS = 3000  # of a plot: every row of a trial of a minute


class RecordingMissing(LookupError):
    """The trial has no recording (yet); the message says so."""


class RecordedTable:
    """The table of one episode of an episodes folder, read from the store as it is asked for.

    Args:
        prefix: of the folder in the store. data: the table's file in the folder.
    """

    def __init__(self, prefix: str, data: str) -> None:
        self._prefix, self._data = prefix, data

    @cached_property
    def features(self) -> dict[str, dict[str, Any]]:
        """As the recording's info.json describes them."""
        return json.loads(storage.get_bytes(f"{self._prefix}/meta/info.json"))["features"]

    def names(self, feature: str) -> tuple[str, ...]:
        """Names of a vector's entries; none where the recording gives none."""
        return tuple(self.features[feature].get("names") or ())

    @property
    def times_s(self) -> NDArray[np.float64]:
        """(n,) since the trial's start."""
        return self._table["timestamp"].to_numpy().astype(float)

    def vectors(self, feature: str) -> NDArray[np.float64]:
        """(n, d) values of a feature."""
        rows = np.stack(self._table[feature].to_numpy(zero_copy_only=False)).astype(float)
        return rows.reshape(len(rows), -1)

    @cached_property
    def _table(self) -> Any:
        import pyarrow.parquet as pq

        return pq.read_table(io.BytesIO(storage.get_bytes(f"{self._prefix}/{self._data}")))


class Recording(RecordedTable):
    """One trial's table.

    Raises:
        RecordingMissing: nothing recorded, or not uploaded yet.
    """

    def __init__(self, trial: Trial) -> None:
        if not trial.episode_prefix:
            raise RecordingMissing("This trial has no recording yet.")
        paths = sorted(storage.folder_manifest(trial.episode_prefix))
        data = next((path for path in paths if path.startswith("data/") and path.endswith(".parquet")), None)
        if data is None:
            raise RecordingMissing("The recording of this trial has no table.")
        super().__init__(trial.episode_prefix, data)
