"""From a configuration to exactly n accepted episodes.

Attempts are simulated in blocks; accepted ones, in the order of their numbers, fill shards that are rendered as soon as
they are full; at the end the shards become one episodes folder. Every step leaves a whole file or folder or nothing, so
a run that was killed anywhere goes on from there, and its result is the same.
"""

import json
import math
import shutil
import time
from collections import defaultdict, deque
from collections.abc import Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from generation.blocks import Outcome
from generation.config import GenerateConfig
from generation.filtering import Funnel
from generation.folder import claim, load_world
from generation.pool import Jobs, open_jobs, worker_count
from generation.worker import ShardOrder
from robots.config import write_json
from robots.episodes.merge import merge_episodes
from robots.errors import DataError
from robots.progress import Progress

JUDGE_YIELD_AFTER = 200  # attempts
INDIFFERENT = {"workers", "world", "demonstrations"}  # may change before a resumption; the world by its path alone


def generate(config: GenerateConfig, out: Path, progress: Progress) -> dict[str, Any]:
    """Make the dataset; what a killed run left in `out` is used.

    Returns:
        `episodes`, `attempts`, `yield`, `funnel`, `seconds`.

    Raises:
        ConfigError: a field that cannot be used, or a folder of another configuration.
        DataError: too few attempts succeed, unusable demonstrations, or a worker died.
    """
    began = time.monotonic()
    world = load_world(config.world)
    claim(out, config, world, INDIFFERENT)
    if not (out / "episodes").exists():
        (out / "shards").mkdir(parents=True, exist_ok=True)
        try:
            with open_jobs(config, world, out) as jobs:
                _Run(config, out, jobs, progress).run()
        except BrokenProcessPool as error:
            raise DataError("a worker process died; the same command goes on from what is done") from error
        shards = sorted((out / "shards").glob("shard-*"))
        merge_episodes(shards, out / "episodes")
        progress.artifact("funnel.json", "result")
        progress.artifact("episodes", "episodes")
    for scratch in ("shards", "attempts"):
        shutil.rmtree(out / scratch, ignore_errors=True)
    return _result(config, out, time.monotonic() - began)


def _result(config: GenerateConfig, out: Path, seconds: float) -> dict[str, Any]:
    funnel = load_funnel(out / "funnel.json")
    share = funnel["accepted"] / funnel["attempts"]
    return {
        "episodes": config.n,
        "attempts": funnel["attempts"],
        "yield": round(share, 4),
        "funnel": funnel,
        "seconds": round(seconds, 2),
    }


def load_funnel(path: Path) -> dict[str, Any]:
    """The attempt funnel of a run as saved."""
    funnel: dict[str, Any] = json.loads(path.read_text())
    return funnel


class _Run:
    """One run's bookkeeping: which attempts came out how, which shards are ordered and done."""

    def __init__(self, config: GenerateConfig, out: Path, jobs: Jobs, progress: Progress) -> None:
        self._config, self._out, self._jobs, self._progress = config, out, jobs, progress
        self._total = Funnel()
        self._objects: defaultdict[str, Funnel] = defaultdict(Funnel)
        self._rejected = Funnel()
        self._accepted: list[tuple[int, int, dict[str, int]]] = []  # block, attempt, rejections before it
        self._shards: deque[tuple[ShardOrder, Future[Path]]] = deque()
        self._ordered = self._written = 0

    def run(self) -> None:
        """Simulate until n are accepted, render them, and save the funnel."""
        for index, outcomes in self._blocks():
            for outcome in outcomes:
                self._count(index, outcome)
                if len(self._accepted) == self._config.n:
                    break
            self._order_shards()
            self._collect(wait=False)
            self._check_yield()
        self._progress.log(f"{self._total.accepted} of {self._total.attempts} attempts accepted")
        self._order_shards(rest=True)
        self._collect(wait=True)
        funnel = self._total.to_json() | {"objects": {k: v.to_json() for k, v in sorted(self._objects.items())}}
        write_json(self._out / "funnel.json", funnel)

    def _blocks(self) -> Iterator[tuple[int, list[Outcome]]]:
        """Blocks in order, a few ahead of the one that is looked at, until enough attempts are accepted."""
        pending: deque[Future[list[Outcome]]] = deque()
        index = 0
        while len(self._accepted) < self._config.n:
            while len(pending) < self._useful_blocks():
                pending.append(self._jobs.simulate(index + len(pending)))
            yield index, pending.popleft().result()
            index += 1
        for future in pending:
            future.cancel()

    def _useful_blocks(self) -> int:
        """Blocks worth having under way: one per worker, but not more than the missing episodes call for."""
        share = (self._total.accepted + 8) / (self._total.attempts + 10)
        missing = self._config.n - len(self._accepted)
        return max(1, min(worker_count(self._config), math.ceil(missing / share / self._config.block)))

    def _count(self, block: int, outcome: Outcome) -> None:
        self._total.add(outcome.reason)
        self._objects[outcome.object].add(outcome.reason)
        if outcome.reason is not None:
            self._rejected.add(outcome.reason)
            return
        self._accepted.append((block, outcome.number, self._rejected.rejections()))
        self._rejected = Funnel()

    def _order_shards(self, rest: bool = False) -> None:
        size = self._config.shard
        while len(self._accepted) - self._ordered >= size or (rest and self._ordered < len(self._accepted)):
            chosen = self._accepted[self._ordered : self._ordered + size]
            attempts: dict[int, tuple[int, ...]] = {}
            for block, number, _ in chosen:
                attempts[block] = (*attempts.get(block, ()), number)
            order = ShardOrder(self._ordered // size, attempts, {number: why for _, number, why in chosen})
            self._shards.append((order, self._jobs.render(order)))
            self._ordered += len(chosen)

    def _collect(self, wait: bool) -> None:
        """Report shards that are done, in order."""
        while self._shards and (wait or self._shards[0][1].done()):
            order, future = self._shards.popleft()
            folder = future.result()
            self._written += order.episodes
            self._progress.artifact(folder.relative_to(self._out), "shard")
            self._progress.progress(self._written, self._config.n, "trajectories")
        self._progress.progress(self._written, self._config.n, "trajectories")

    def _check_yield(self) -> None:
        attempts, accepted = self._total.attempts, self._total.accepted
        if attempts >= JUDGE_YIELD_AFTER and accepted < self._config.min_yield * attempts:
            reasons = ", ".join(f"{name} {count}" for name, count in self._total.rejections().items())
            raise DataError(f"only {accepted} of {attempts} attempts were accepted; rejected: {reasons}")
