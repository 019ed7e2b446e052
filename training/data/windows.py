"""Windows of a concatenated set of episodes, clamped to their own episode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class WindowIndex:
    """Where windows start and how far their episode reaches, in ticks of the concatenated episodes.

    Attributes:
        start: first tick of each window (N,).
        first, last: first and last tick of its episode (N,).
        episode: which episode, by position (N,).
    """

    start: np.ndarray
    first: np.ndarray
    last: np.ndarray
    episode: np.ndarray

    def __len__(self) -> int:
        return len(self.start)

    def future(self, windows: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray]:
        """Ticks start .. start + length - 1, held at the episode's end, and which of them are real (n, length)."""
        ticks = self.start[windows, None] + np.arange(length)
        last = self.last[windows, None]
        return np.minimum(ticks, last), ticks <= last

    def past(self, windows: np.ndarray, length: int) -> np.ndarray:
        """Ticks start - length + 1 .. start, held at the episode's beginning (n, length)."""
        ticks = self.start[windows, None] + np.arange(1 - length, 1)
        return np.maximum(ticks, self.first[windows, None])


def index_windows(lengths: Sequence[int], stride: int) -> WindowIndex:
    """Windows that start every `stride` ticks of each episode.

    Args:
        lengths: ticks of each episode; every episode has at least one.
        stride: ticks between two starts.
    """
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    local = [np.arange(0, length, stride) for length in lengths]
    counts = [len(ticks) for ticks in local]
    episode = np.repeat(np.arange(len(counts)), counts)
    start = np.concatenate(local) + offsets[episode] if counts else np.zeros(0, np.int64)
    return WindowIndex(start, offsets[episode], offsets[episode + 1] - 1, episode)
