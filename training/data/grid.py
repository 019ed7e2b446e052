"""Recordings of any frame rate on the policy's 50 Hz grid."""

from __future__ import annotations

import numpy as np

CONTROL_HZ = 50


def grid_length(rows: int, fps: float) -> int:
    """Ticks of the 50 Hz grid that lie within `rows` frames at `fps` [Hz]."""
    return int(np.floor((rows - 1) * CONTROL_HZ / fps + 1e-9)) + 1


def nearest_rows(ticks: np.ndarray, rows: int, fps: float) -> np.ndarray:
    """Index of the frame nearest in time to each tick, clamped inside the episode."""
    return np.clip(np.rint(ticks * (fps / CONTROL_HZ)).astype(np.int64), 0, rows - 1)


def to_grid(values: np.ndarray, fps: float) -> np.ndarray:
    """Linear interpolation of values (n, D) sampled at `fps` [Hz] onto the 50 Hz grid (T, D)."""
    if fps == CONTROL_HZ:
        return values.astype(np.float32)
    at = np.arange(grid_length(len(values), fps)) * (fps / CONTROL_HZ)
    low = np.minimum(np.floor(at).astype(np.int64), len(values) - 1)
    high = np.minimum(low + 1, len(values) - 1)
    part = (at - low)[:, None]
    return ((1 - part) * values[low] + part * values[high]).astype(np.float32)
