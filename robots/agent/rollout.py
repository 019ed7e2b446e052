"""One rollout at 50 Hz: observe, ask the policy every twelve ticks, play the chunks, show and record."""

import statistics
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from robots.agent.chunks import ChunkPlayer
from robots.agent.rig import Image, Observation, Rig

CONTROL_HZ = 50
REPLAN_TICKS = 12
HISTORY = 20
REFEREE_EVERY_TICKS = 5

Chunk = tuple[NDArray[np.float32], float]


class Policy(Protocol):
    """Whatever turns an observation into a chunk (K, n) and its inference time [ms]."""

    def infer(self, images: Mapping[str, Image], state: NDArray[np.float32], instruction: str) -> Chunk: ...


class AbortedError(Exception):
    """The rollout was ended from outside; the text says why."""


@dataclass
class Planner:
    """Asks the policy for chunks and feeds them to the player.

    In lockstep the world waits for the policy; otherwise the old chunk plays on while the policy thinks.
    """

    policy: Policy
    views: tuple[str, ...]
    instruction: str
    player: ChunkPlayer
    is_lockstep: bool
    latencies_ms: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._history: deque[NDArray[np.float64]] = deque(maxlen=HISTORY)
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="policy")
        self._pending: tuple[int, Future[Chunk]] | None = None
        self._next_ask = 0

    def command(self, tick: int, seen: Observation) -> NDArray[np.float64]:
        """The command for this tick, given what is seen at it."""
        self._remember(seen.position)
        if self._pending is None and tick >= self._next_ask:
            self._ask(tick, seen)
        if self._pending is not None and (self.is_lockstep or tick == 0 or self._pending[1].done()):
            self._collect(tick)
        return self.player.command(tick)

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _remember(self, position: NDArray[np.float64]) -> None:
        if not self._history:
            self._history.extend([position] * (HISTORY - 1))
        self._history.append(position)

    def _ask(self, tick: int, seen: Observation) -> None:
        images = {view: seen.images[view] for view in self.views}
        state = np.asarray(self._history, dtype=np.float32)
        self._pending = (tick, self._pool.submit(self.policy.infer, images, state, self.instruction))
        self._next_ask = tick + REPLAN_TICKS

    def _collect(self, tick: int) -> None:
        if self._pending is None:
            return
        (asked_at, answer), self._pending = self._pending, None
        actions, latency_ms = answer.result()
        self.latencies_ms.append(latency_ms)
        self.player.submit(asked_at, actions, tick)


@dataclass(frozen=True)
class RolloutResult:
    """How long it went [s], over how many ticks, and the median inference time [ms]."""

    time_s: float
    ticks: int
    latency_ms: float | None


def run_rollout(
    rig: Rig,
    planner: Planner,
    start: Observation,
    *,
    time_limit_s: float,
    on_tick: Callable[[Observation, NDArray[np.float64]], None],
    aborted: Callable[[], str],
) -> RolloutResult:
    """Run until the referee has seen enough or the time is up.

    Args:
        on_tick: called with what was seen and commanded at every tick.
        aborted: a reason once the rollout shall end, else "".

    Raises:
        AbortedError: ended from outside. Also what the policy and the rig raise.
    """
    seen, tick = start, 0
    limit = round(time_limit_s * CONTROL_HZ)
    try:
        while tick < limit and not rig.is_over():
            if reason := aborted():
                raise AbortedError(reason)
            command = planner.command(tick, seen)
            on_tick(seen, command)
            seen = rig.step(command)
            tick += 1
    finally:
        planner.close()
    latency = statistics.median(planner.latencies_ms) if planner.latencies_ms else None
    return RolloutResult(time_s=tick / CONTROL_HZ, ticks=tick, latency_ms=latency)
