"""State and action curves of one episode, small enough for a browser."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from robots.episodes.reader import EpisodesReader

CURVES = ("observation.state", "action")


def episode_series(
    reader: EpisodesReader, index: int, *, features: Sequence[str] = CURVES, max_points: int = 600
) -> dict[str, Any]:
    """Curves of one episode at up to `max_points` evenly spaced rows, the first and the last among them.

    Returns:
        `episode`, `task`, `fps`, `length`, `duration_s`, `rows` (row numbers), `time` [s] and `series`: a list of
        `feature`, `name`, `unit` (or None) and `values`, one per entry; all lists have the same length.

    Raises:
        DataError: no such episode, or a broken file.
    """
    present = [name for name in features if name in reader.features and reader.features[name].is_numeric]
    episode = reader.read(index, columns=present)
    rows = np.unique(np.linspace(0, len(episode) - 1, min(max_points, len(episode))).round().astype(int))
    series = []
    for name in present:
        feature = reader.features[name]
        values = episode.columns[name].reshape(len(episode), -1)[rows].astype(float)
        for entry in range(values.shape[1]):
            label = feature.names[entry] if feature.names else str(entry)
            unit = feature.units[entry] if feature.units else None
            series.append({"feature": name, "name": label, "unit": unit, "values": _short(values[:, entry])})
    return {
        "episode": index,
        "task": episode.task,
        "fps": reader.fps,
        "length": len(episode),
        "duration_s": len(episode) / reader.fps,
        "rows": rows.tolist(),
        "time": _short(episode.timestamps[rows]),
        "series": series,
    }


def _short(values: Any) -> list[float]:
    return [round(float(value), 5) for value in values]
