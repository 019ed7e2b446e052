"""Power and expected length of a study that may stop early, before anything is locked.

Effects: the Brownian motion with drift, integrated from look to look (Armitage, McPherson & Rowe 1969). Two arms: every
possible pair of counts at every look, exact. Betting: drawn studies, seeded, for its capital has no such formula.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg, special, stats

from labapp.statistics.contrasts import contrast_p
from labapp.statistics.power import contrast_error
from labapp.statistics.sequential import REACH, log_capital, pooled_z, simpson

GRID = 201
LARGEST_DRIFT = 40.0
FARTHEST, BISECTIONS = 100.0, 40
DRAWN_STUDIES = 4000
SEED = 20260930


class Stopping(NamedTuple):
    """Chance to cross a boundary at each look for the first time; `looks` are trials per arm so far."""

    looks: tuple[int, ...]
    chances: tuple[float, ...]

    @property
    def power(self) -> float:
        """Chance to cross at any look."""
        return float(sum(self.chances))

    @property
    def expected(self) -> float:
        """Expected trials per arm: a study that crosses nowhere runs to the last look."""
        never = 1 - self.power
        return float(np.dot(self.chances, self.looks) + never * self.looks[-1])


def crossing_chances(drift: float, fractions: Sequence[float], edges: Sequence[float]) -> list[float]:
    """Chance that |B(t) + drift t| / sqrt(t) reaches an edge at each look and at none before.

    Args:
        drift: the z that the effect has on average at full information: effect / standard error.
        fractions: information at the looks, rising up to 1.
        edges: z boundary at each look.
    """
    points, mass, before = np.zeros(1), np.ones(1), 0.0
    chances = []
    for t, edge in zip(fractions, edges, strict=True):
        step, mean = float(np.sqrt(t - before)), points + drift * (t - before)
        bound = edge * float(np.sqrt(t))
        over = special.ndtr((mean - bound) / step) + special.ndtr((-bound - mean) / step)
        chances.append(float(mass @ over))
        inside, weights = simpson(bound, GRID)
        moves = np.exp(-0.5 * ((inside[:, None] - mean[None, :]) / step) ** 2) / (step * np.sqrt(2 * np.pi))
        points, mass, before = inside, weights * (moves @ mass), t
    return chances


def effect_stopping(
    rates: Sequence[float], coefficients: ArrayLike, looks: Sequence[int], edges: Sequence[float]
) -> Stopping:
    """A contrast of several arms, judged by its interval at looks after so many trials per arm."""
    p, c = np.asarray(rates, dtype=float), np.asarray(coefficients, dtype=float)
    error = contrast_error(p, looks[-1], c)
    if not error:
        return Stopping(tuple(looks), _certain(p, c, looks, edges))
    drift = float(c @ p) / error
    reached = interval_edges(p, c if drift >= 0 else -c, looks, edges)
    fractions = [n / looks[-1] for n in looks]
    return Stopping(tuple(looks), tuple(crossing_chances(min(abs(drift), LARGEST_DRIFT), fractions, reached)))


def _certain(
    p: NDArray[np.float64], c: NDArray[np.float64], looks: Sequence[int], edges: Sequence[float]
) -> tuple[float, ...]:
    """Every study ends alike: at the first look whose edge these rates reach."""
    n = np.asarray(looks, dtype=float)[:, None]
    is_over = (abs(c @ p) > 0) & (contrast_p(c, p * n, n) <= 2 * special.ndtr(-np.asarray(edges, dtype=float)))
    return tuple(
        float(first) for first in np.diff(np.concatenate([[False], np.logical_or.accumulate(is_over)]).astype(int))
    )


def interval_edges(
    p: NDArray[np.float64], c: NDArray[np.float64], looks: Sequence[int], edges: Sequence[float]
) -> list[float]:
    """Standard errors by which a contrast must exceed zero for its z (`looks.contrast_z`) to reach each look's edge.

    That z is careful with small samples, so it asks for more than the edge itself. It is followed along the likeliest
    way to the edge: estimates that leave the rates p in the direction of c p (1 - p).
    """
    n, levels = np.asarray(looks, dtype=float)[:, None], 2 * special.ndtr(-np.asarray(edges, dtype=float))

    def estimates(way: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.clip(p + way[:, None] * c * p * (1 - p), 0, 1)

    back, ahead = np.full(len(n), -FARTHEST), np.full(len(n), FARTHEST)
    for _ in range(BISECTIONS):
        middle = (back + ahead) / 2
        rates = estimates(middle)
        is_over = (rates @ c > 0) & (contrast_p(c, rates * n, n) <= levels)
        back, ahead = np.where(is_over, back, middle), np.where(is_over, middle, ahead)
    errors = np.array([contrast_error(p, size, c) for size in looks])
    return [float(e) for e in np.where(ahead < FARTHEST, estimates(ahead) @ c / errors, REACH)]


def pair_stopping(p1: float, p2: float, looks: Sequence[int], edges: Sequence[float]) -> Stopping:
    """Two arms by their pooled z, over every possible pair of counts at every look."""
    mass, before, chances = np.ones((1, 1)), 0, []
    for n, edge in zip(looks, edges, strict=True):
        mass = _arrivals(before, n, p1) @ mass @ _arrivals(before, n, p2).T
        crossed = _crossed(n, edge)
        chances.append(float(mass[crossed].sum()))
        mass[crossed] = 0.0
        before = n
    return Stopping(tuple(looks), tuple(chances))


def _arrivals(before: int, n: int, p: float) -> NDArray[np.float64]:
    """Chance of k successes among n trials, given j among the first `before`: shape (n + 1, before + 1)."""
    column = np.zeros(n + 1)
    column[: n - before + 1] = stats.binom.pmf(np.arange(n - before + 1), n - before, p)
    return linalg.toeplitz(column, np.concatenate([column[:1], np.zeros(before)]))


@lru_cache(maxsize=256)
def _crossed(n: int, edge: float) -> NDArray[np.bool_]:
    k = np.arange(n + 1)
    return np.abs(pooled_z(k[:, None], n, k[None, :], n)) >= edge


class Bets(NamedTuple):
    """Drawn studies, bet on after every block: the block at which each decides; `blocks` + 1 = not by then."""

    blocks: int
    stops: NDArray[np.int64]

    def power(self, blocks: int) -> float:
        """Share of studies decided within so many blocks."""
        return float(np.mean(self.stops <= blocks))

    def expected(self, blocks: int) -> float:
        """Mean number of blocks run, where a study ends at its decision or after `blocks`."""
        return float(np.mean(np.minimum(self.stops, blocks)))

    def blocks_for(self, power: float) -> int | None:
        """Blocks within which that share of studies decides; None where those drawn are too short."""
        reached = int(np.sort(self.stops)[int(np.ceil(power * len(self.stops))) - 1])
        return reached if reached <= self.blocks else None


def draw_bets(
    rates: Sequence[float],
    contrasts: Sequence[ArrayLike],
    blocks: int,
    alpha: Sequence[float],
    studies: int = DRAWN_STUDIES,
) -> list[Bets]:
    """Draw studies of independent arms and bet on every contrast after every block.

    Args:
        rates: shape (arms,).
        contrasts: shape (contrasts, arms), each summing to 0.
        alpha: level of each contrast.
    """
    rng = np.random.default_rng(SEED)
    x = (rng.random((studies, blocks, len(rates)), dtype=np.float32) < np.asarray(rates, dtype=np.float32)).astype(
        float
    )
    return [_bet(x, np.asarray(c, dtype=float), level) for c, level in zip(contrasts, alpha, strict=True)]


def _bet(x: NDArray[np.float64], contrast: NDArray[np.float64], alpha: float) -> Bets:
    values, span = x @ contrast, float(contrast[contrast > 0].sum())
    decided = log_capital((values / span + 1) / 2, 0.5, alpha) >= np.log(1 / alpha)
    blocks = values.shape[1]
    return Bets(blocks, np.where(decided.any(axis=1), np.argmax(decided, axis=1) + 1, blocks + 1))
