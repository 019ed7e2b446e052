"""Brings finished trials to the lab: report first, so that the operator can score, then the recording."""

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

import httpx

from robots.agent.lab import UploadRefusedError
from robots.agent.recording import video_paths
from robots.agent.spool import Spool, SpooledTrial

logger = logging.getLogger(__name__)

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 30.0


class Uploads(Protocol):
    """Where a trial is delivered."""

    def report(self, trial: SpooledTrial) -> None: ...

    def send_episode(self, trial: SpooledTrial, videos: dict[str, str]) -> None: ...


class Uploader:
    """Delivers what waits in the spool, and tries again with growing pauses until the lab has it."""

    def __init__(self, spool: Spool, lab: Uploads) -> None:
        self._spool, self._lab = spool, lab
        self._wake = asyncio.Event()
        self._reported: set[str] = set()

    def wake(self) -> None:
        """Something new waits, or the lab is back."""
        self._wake.set()

    async def run(self) -> None:
        """Deliver for ever."""
        pause = FIRST_PAUSE_S
        while True:
            self._wake.clear()
            if await self.deliver_waiting():
                pause = FIRST_PAUSE_S
                await self._wake.wait()
            else:
                await self._rest(pause)
                pause = min(LONGEST_PAUSE_S, 2 * pause)

    async def deliver_waiting(self) -> bool:
        """Try everything once, reports before recordings; False when something still waits."""
        waiting = self._spool.waiting()
        steps = [self._report(trial) for trial in waiting] + [self._deliver(trial) for trial in waiting]
        results = [await step for step in steps]
        return all(results)

    async def _report(self, trial: SpooledTrial) -> bool:
        if trial.trial in self._reported:
            return True
        is_done = await self._try(trial, lambda: self._lab.report(trial))
        if is_done:
            self._reported.add(trial.trial)
        return is_done

    async def _deliver(self, trial: SpooledTrial) -> bool:
        if trial.trial not in self._reported:
            return not trial.folder.exists()
        is_done = await self._try(trial, lambda: self._lab.send_episode(trial, video_paths(trial.episode)))
        if is_done and trial.folder.exists():
            self._spool.delivered(trial)
            self._reported.discard(trial.trial)
        return is_done

    async def _try(self, trial: SpooledTrial, call: Callable[[], None]) -> bool:
        try:
            await asyncio.to_thread(call)
        except UploadRefusedError as error:
            logger.error("trial %s is set aside: %s", trial.trial, error)
            self._spool.set_aside(trial, str(error))
        except (httpx.HTTPError, OSError) as error:
            logger.warning("trial %s waits for the lab: %s", trial.trial, error)
            return False
        return True

    async def _rest(self, pause: float) -> None:
        try:
            await asyncio.wait_for(self._wake.wait(), timeout=pause)
        except TimeoutError:
            return
