"""How far an import is, for the page that waits for it: the import runs in one request, another one asks."""

import logging
import time
from collections.abc import Callable

from django.core.cache import cache
from redis import RedisError

from labapp.accounts.models import User

logger = logging.getLogger(__name__)
KEPT_S = 600
EVERY_S = 0.2


class Progress:
    """Tells what is being done and how much of it, at most five times a second; nothing more once it cannot."""

    def __init__(self, key: str, user: User, clock: Callable[[], float] = time.monotonic) -> None:
        self._name, self._clock, self._last = _name(key, user), clock, float("-inf")
        self._is_lost = False

    def of(self, what: str, total: int) -> Callable[[int], None]:
        """What hears how many of ``total`` are done."""

        def told(done: int) -> None:
            now = self._clock()
            if done == total or now - self._last >= EVERY_S:
                self._last = now
                self._tell({"what": what, "done": done, "total": total})

        return told

    def _tell(self, facts: dict[str, str | int]) -> None:
        if self._is_lost:
            return
        try:
            cache.set(self._name, facts, KEPT_S)
        except RedisError as error:
            logger.warning("The import goes on without telling how far it is: %s", error)
            self._is_lost = True


def progress_of(key: str, user: User) -> dict[str, str | int]:
    """What was told last; empty where nothing is being done."""
    return cache.get(_name(key, user)) or {}


def _name(key: str, user: User) -> str:
    return f"outcome-import-progress:{user.pk}:{key}"
