"""Statistics per episode and per folder, in the shapes LeRobot v3.0 stores.

Vectors: one number per entry. Cameras: pixels scaled to 0..1, shape (3, 1, 1). Quantiles are exact within an episode;
over a folder they are means of the episodes' quantiles weighted by count, as the format's own library defines them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robots.episodes.features import Feature

Stats = dict[str, NDArray[Any]]
QUANTILES = {"q01": 0.01, "q10": 0.1, "q50": 0.5, "q90": 0.9, "q99": 0.99}
STAT_NAMES = ("min", "max", "mean", "std", "count", *QUANTILES)
CONSTANT_RANGE = 1e-6
_PIXEL_LIMIT = 150


def column_stats(values: NDArray[Any]) -> Stats:
    """Statistics over rows.

    Args:
        values: (T,) or (T, ...), numbers or booleans.

    Returns:
        one array per name of STAT_NAMES: shape (1,) for a scalar column, else of one row; count has shape (1,).
    """
    rows = np.asarray(values, dtype=np.float64)
    if rows.ndim == 1:
        rows = rows[:, None]
    quantiles = np.quantile(rows, list(QUANTILES.values()), axis=0)
    return {
        "min": rows.min(axis=0),
        "max": rows.max(axis=0),
        "mean": rows.mean(axis=0),
        "std": rows.std(axis=0),
        "count": np.array([len(rows)]),
        **dict(zip(QUANTILES, quantiles, strict=True)),
    }


class PixelStats:
    """Statistics of RGB frames, gathered from a subset of frames and pixels as an exact histogram of 8-bit levels."""

    def __init__(self) -> None:
        self._histogram = np.zeros((3, 256), dtype=np.int64)
        self._frames = 0

    def add(self, frame: NDArray[np.uint8]) -> None:
        """Count the pixels of one frame (H, W, 3); large frames are thinned to about 150 pixels a side."""
        step = max(1, max(frame.shape[:2]) // _PIXEL_LIMIT)
        thin = frame[::step, ::step]
        for channel in range(3):
            self._histogram[channel] += np.bincount(thin[..., channel].ravel(), minlength=256)
        self._frames += 1

    def result(self) -> Stats | None:
        """Statistics with shape (3, 1, 1) in 0..1; None when no frame was added."""
        if self._frames == 0:
            return None
        levels = np.arange(256) / 255.0
        total = self._histogram[0].sum()
        mean = self._histogram @ levels / total
        std = np.sqrt(np.maximum(self._histogram @ levels**2 / total - mean**2, 0.0))
        cumulated = np.cumsum(self._histogram, axis=1)
        found = {"min": self._level(cumulated, 1), "max": self._level(cumulated, total), "mean": mean, "std": std}
        found |= {name: self._level(cumulated, max(1, np.ceil(q * total))) for name, q in QUANTILES.items()}
        shaped = {name: value.reshape(3, 1, 1) for name, value in found.items()}
        return {**shaped, "count": np.array([self._frames])}

    @staticmethod
    def _level(cumulated: NDArray[np.int64], rank: float) -> NDArray[np.float64]:
        return (cumulated >= rank).argmax(axis=1) / 255.0


def aggregate(parts: Sequence[Mapping[str, Stats]]) -> dict[str, Stats]:
    """Statistics of several sets of rows together: feature -> stats, over whichever parts know the feature."""
    names = dict.fromkeys(name for part in parts for name in part)
    return {name: _pool([part[name] for part in parts if name in part]) for name in names}


def _pool(parts: Sequence[Stats]) -> Stats:
    counts = np.array([int(part["count"][0]) for part in parts], dtype=np.float64)
    weights = counts / counts.sum()
    mean = _weighted(parts, "mean", weights)
    spread = sum(w * (part["std"] ** 2 + (part["mean"] - mean) ** 2) for w, part in zip(weights, parts, strict=True))
    return {
        "min": np.min([part["min"] for part in parts], axis=0),
        "max": np.max([part["max"] for part in parts], axis=0),
        "mean": mean,
        "std": np.sqrt(spread),
        "count": np.array([int(counts.sum())]),
        **{q: _weighted(parts, q, weights) for q in QUANTILES if all(q in part for part in parts)},
    }


def _weighted(parts: Sequence[Stats], name: str, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(sum(w * part[name] for w, part in zip(weights, parts, strict=True)))


def to_json(stats: Mapping[str, Stats]) -> dict[str, dict[str, Any]]:
    """As stats.json stores them."""
    return {feature: {name: value.tolist() for name, value in part.items()} for feature, part in stats.items()}


def from_json(values: Mapping[str, Mapping[str, Any]]) -> dict[str, Stats]:
    """The inverse of `to_json`."""
    return {
        feature: {name: np.atleast_1d(np.asarray(value)) for name, value in part.items()}
        for feature, part in values.items()
    }


def constant_entries(stats: Mapping[str, Stats], features: Mapping[str, Feature]) -> list[str]:
    """Entries that never move, named: standard deviation 0, q99 = q01, or a range under 1e-6.

    They must normalise to exactly 0 and come back as the constant; default columns are left out.
    """
    named = []
    for feature in ("observation.state", "action"):
        if feature not in stats or feature not in features:
            continue
        part = stats[feature]
        still = (part["std"] == 0) | (part["max"] - part["min"] < CONSTANT_RANGE)
        if "q99" in part:
            still |= part["q99"] == part["q01"]
        named += [f"{feature}[{features[feature].label(int(i))}]" for i in np.flatnonzero(still)]
    return named
