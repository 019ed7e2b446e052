"""Policies that need no learning."""

from collections.abc import Mapping, Sequence

import numpy as np

from generation.evaluation import Seen
from robots.cell.bench import BENCH_CELL


class Replay:
    """Plays kept commands back, whatever it sees."""

    views = ("head",)

    def __init__(self, recordings: Mapping[int, np.ndarray]) -> None:
        self._recordings = recordings

    def act(self, seen: Sequence[Seen]) -> np.ndarray:
        return np.stack([self._chunk(one) for one in seen]).astype(np.float32)

    def _chunk(self, seen: Seen) -> np.ndarray:
        actions = self._recordings[seen.number]
        rows = np.minimum(np.arange(seen.tick, seen.tick + 40), len(actions) - 1)
        return actions[rows]


class Still:
    """Stays at home, and keeps what it was shown."""

    def __init__(self, views: tuple[str, ...] = ("head",)) -> None:
        self.views = views
        self.seen: list[Seen] = []

    def act(self, seen: Sequence[Seen]) -> np.ndarray:
        self.seen += seen
        return np.tile(BENCH_CELL.home_state.astype(np.float32), (len(seen), 40, 1))


class Jittery:
    """Shakes around home by noise of the seed it is given, as a trained policy's noise would."""

    views = ("right_wrist",)

    def act(self, seen: Sequence[Seen]) -> np.ndarray:
        noise = [np.random.default_rng(one.seed).normal(0, 0.05, (40, 54)) for one in seen]
        return (BENCH_CELL.home_state + np.stack(noise)).astype(np.float32)
