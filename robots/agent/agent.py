"""The agent: one connection, one cell, one trial at a time."""

import asyncio
import contextlib
import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import httpx

from robots.agent.checkpoints import CheckpointCache, CheckpointError
from robots.agent.feed import FRAMES_PER_SECOND, LiveFeed, frames_of, joints_of
from robots.agent.lab import LabClient, fault
from robots.agent.link import Link
from robots.agent.policy import PolicyPool
from robots.agent.protocol import (
    Heartbeat,
    Hello,
    LabMessage,
    Stop,
    StopState,
    TrialCancel,
    TrialEvent,
    TrialPrepare,
    TrialStart,
    Welcome,
)
from robots.agent.rig import Rig
from robots.agent.runner import TrialRunner
from robots.agent.spool import Spool, SpooledTrial
from robots.agent.uploader import Uploader

logger = logging.getLogger(__name__)

SOFTWARE = "groundlab agent 1"
HEARTBEAT_S = 2.0
IDLE_LOOK_S = 1.0


@dataclass(frozen=True)
class AgentOptions:
    """How an agent runs.

    Attributes:
        lab: base URL. token: of this agent. state_dir: spool, checkpoints and logs.
        warm: policy servers kept running at once.
    """

    lab: str
    token: str
    state_dir: Path
    warm: int = 2


class Agent:
    """Ties connection, spool, runner and uploads together. `run` ends only by cancellation or a refused token."""

    def __init__(self, options: AgentOptions, rig: Rig, pool: PolicyPool | None = None) -> None:
        self._rig = rig
        self._spool = Spool(options.state_dir / "spool")
        self._lab = LabClient(options.lab, options.token)
        self._cache = CheckpointCache(options.state_dir / "checkpoints", self._lab)
        self._pool = pool or PolicyPool(options.state_dir / "policy.log", warm=options.warm)
        self._can_prepare = options.warm > 1
        self._feed = LiveFeed()
        self._orders: asyncio.Queue[SpooledTrial] = asyncio.Queue()
        self._uploader = Uploader(self._spool, self._lab)
        self._stopped = StopState(pressed=False)
        self._robot = ThreadPoolExecutor(max_workers=1, thread_name_prefix="robot")
        self._runner = TrialRunner(rig, self._cache, self._pool, self._feed, self._emit)
        self.link = Link(
            options.lab, options.token, greet=self._hello, on_message=self._on_message, on_up=self._uploader.wake
        )
        self._prepared: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Serve the lab until cancelled; raises RefusedError for a token that the lab does not know."""
        self._loop = asyncio.get_running_loop()
        self._feed.attach(self._loop)
        for trial in self._spool.recover():
            logger.warning("trial %s was cut by a restart: proposed as invalid", trial.trial)
        jobs = (self.link.run(), self._uploader.run(), self._work(), self._stream(), self._beat(), self._idle())
        tasks = [asyncio.create_task(job) for job in jobs]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()
        finally:
            await self._shut_down([*tasks, *self._prepared])

    async def _shut_down(self, tasks: list[asyncio.Task[None]]) -> None:
        self._runner.abort("The agent was shut down during the trial.")
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.to_thread(self._robot.shutdown)
        self._pool.close()
        self._lab.close()
        self._rig.close()

    async def _on_message(self, message: LabMessage) -> None:
        if isinstance(message, TrialStart):
            self._accept(message)
        elif isinstance(message, TrialPrepare):
            self._prepare(message)
        elif isinstance(message, TrialCancel):
            self._runner.abort(message.reason, message.trial)
        elif isinstance(message, Stop):
            await self._stop(message)
        elif isinstance(message, Welcome):
            logger.info("serving cell %s", message.cell)

    def _accept(self, order: TrialStart) -> None:
        try:
            if self._spool.knows(order.trial):
                self._uploader.wake()
                return
            self._orders.put_nowait(self._spool.open(order))
        except ValueError as error:
            logger.error("order refused: %s", error)

    def _prepare(self, message: TrialPrepare) -> None:
        """Fetch and warm the next checkpoint, unless that would end the server in use."""
        if not self._can_prepare:
            return
        task = asyncio.create_task(asyncio.to_thread(self._warm, message))
        self._prepared.add(task)
        task.add_done_callback(self._prepared.discard)

    def _warm(self, message: TrialPrepare) -> None:
        try:
            self._pool.server(self._cache.folder(message.checkpoint))
        except (CheckpointError, OSError, httpx.HTTPError) as error:
            logger.warning("next checkpoint not prepared: %s", fault(error))
        except Exception:  # preparing is a courtesy: the trial itself reports what is wrong
            logger.exception("next checkpoint not prepared")

    async def _stop(self, message: Stop) -> None:
        self._rig.stop(message.pressed)
        self._stopped = StopState(pressed=message.pressed, by=message.by)
        if message.pressed:
            self._runner.abort(f"Software stop pressed by {message.by or 'the lab'}.")
        await self.link.send(self._stopped)

    async def _work(self) -> None:
        while True:
            trial = await self._orders.get()
            logger.info("trial %s starts (code %s)", trial.trial, trial.order.code)
            proposal = await self._loop.run_in_executor(self._robot, self._runner.run, trial)
            logger.info("trial %s is over: %s", trial.trial, proposal.invalid_reason or "proposed")
            self._uploader.wake()

    async def _stream(self) -> None:
        """The newest pictures, at most FRAMES_PER_SECOND; a slow connection gets fewer, never older ones."""
        while True:
            snapshot = await self._feed.newest()
            if self.link.is_up:
                for frame in await asyncio.to_thread(frames_of, snapshot):
                    await self.link.send(frame)
                await self.link.send(joints_of(snapshot))
            await asyncio.sleep(1 / FRAMES_PER_SECOND)

    async def _beat(self) -> None:
        while True:
            await self.link.send(Heartbeat(self._state(), self._runner.current, len(self._spool.names())))
            await asyncio.sleep(HEARTBEAT_S)

    async def _idle(self) -> None:
        """Between trials the lab still sees the cell."""
        while True:
            await asyncio.sleep(IDLE_LOOK_S)
            if self.link.is_up and self._runner.current is None and self._orders.empty():
                with contextlib.suppress(OSError):
                    await self._loop.run_in_executor(self._robot, self._look)

    def _look(self) -> None:
        seen = self._rig.look()
        self._feed.show(seen.time_s, seen.position, seen.images, None)

    def _emit(self, event: TrialEvent) -> None:
        asyncio.run_coroutine_threadsafe(self._send_event(event), self._loop)

    async def _send_event(self, event: TrialEvent) -> None:
        await self.link.send(event)

    def _state(self) -> Literal["idle", "busy", "stopped"]:
        if self._stopped.pressed:
            return "stopped"
        return "busy" if self._runner.current is not None else "idle"

    def _hello(self) -> Hello:
        return Hello(SOFTWARE, self._state(), self._runner.current, self._spool.names())
