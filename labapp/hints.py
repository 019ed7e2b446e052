"""Telling open sockets that something has changed. What is told is a hint: the database holds the truth, and pages ask
it again by themselves, so nobody waits long for a Redis that is silent.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.conf import settings
from redis import RedisError
from redis import TimeoutError as RedisTimeout

logger = logging.getLogger(__name__)
PAUSE_S = 5.0


class Line:
    """The way to Redis for what may be lost: one wait in vain, then hints are dropped for a while without waiting.

    The log tells when Redis falls silent and when it answers again, not each message that is lost.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.is_silent = False
        self._clock = clock
        self._try_again_at = 0.0

    async def send(self, message: Callable[[], Awaitable[Any]], *, is_urgent: bool = False) -> bool:
        """Whether it was taken within ``REDIS_WAIT_SECONDS``; what is urgent is tried even during the pause."""
        if self.is_silent and not is_urgent and self._clock() < self._try_again_at:
            return False
        try:
            async with asyncio.timeout(settings.REDIS_WAIT_SECONDS):
                await message()
        except (RedisError, OSError) as error:
            self._fell_silent(error)
            return False
        self._answered()
        return True

    def _fell_silent(self, error: Exception) -> None:
        if isinstance(error, TimeoutError | RedisTimeout):  # a refusal costs no time
            self._try_again_at = self._clock() + PAUSE_S
        if not self.is_silent:
            logger.warning("Redis does not answer, pages learn of changes when they ask: %s", str(error) or "timed out")
        self.is_silent = True

    def _answered(self) -> None:
        if self.is_silent:
            logger.warning("Redis answers again")
        self.is_silent = False


line = Line()


async def tell(group: str, message: dict[str, Any], *, is_urgent: bool = False) -> bool:
    """Send to every socket of a group; False where it was lost."""
    return await line.send(lambda: get_channel_layer().group_send(group, message), is_urgent=is_urgent)


def tell_now(group: str, message: dict[str, Any], *, is_urgent: bool = False) -> bool:
    return async_to_sync(tell)(group, message, is_urgent=is_urgent)
