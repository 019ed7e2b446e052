"""Where jobs run: in worker processes, or in this one. Both answer `submit` with a future."""

import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from generation.config import GenerateConfig
from generation.worker import ShardOrder, Worker, render_shard, simulate_block, start_worker
from robots.cell.world import WorldParameters

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Jobs:
    """The two kinds of jobs of a run."""

    def __init__(self, simulate: Callable[[int], Future[Any]], render: Callable[[ShardOrder], Future[Any]]) -> None:
        self.simulate, self.render = simulate, render


@contextmanager
def open_jobs(config: GenerateConfig, world: WorldParameters, out: Path) -> Iterator[Jobs]:
    """Jobs on `config.workers` processes (0: one per core); with one they run in this process.

    Leaving it early drops what waits and lets what runs finish, so that the folder can be resumed.
    """
    count = worker_count(config)
    if count == 1:
        worker = Worker(config, world, out)
        yield Jobs(lambda index: _now(worker.simulate, index), lambda order: _now(worker.render, order))
        return
    with _environment():
        pool: Executor = ProcessPoolExecutor(
            count, multiprocessing.get_context("spawn"), initializer=start_worker, initargs=(config, world, out)
        )
        try:
            yield Jobs(lambda i: pool.submit(simulate_block, i), lambda order: pool.submit(render_shard, order))
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def worker_count(config: GenerateConfig) -> int:
    """Processes that a run uses."""
    return config.workers or len(os.sched_getaffinity(0))


@contextmanager
def _environment() -> Iterator[None]:
    """Workers share the cores: one thread each for the libraries, and OpenGL without a screen."""
    wanted = dict.fromkeys(ONE_THREAD, "1") | {"MUJOCO_GL": "egl", "LP_NUM_THREADS": "0"}
    added = {name: value for name, value in wanted.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


def _now(job: Callable[[Any], Any], argument: Any) -> Future[Any]:
    future: Future[Any] = Future()
    try:
        future.set_result(job(argument))
    except Exception as error:
        future.set_exception(error)
    return future
