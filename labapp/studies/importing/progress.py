"""How far an import is, for the page that waits for it: the import runs in one request, another one asks."""

import time
from collections.abc import Callable

from django.core.cache import cache

from labapp.accounts.models import User

KEPT_S = 600
EVERY_S = 0.2


class Progress:
    """Tells what is being done and how much of it; written at most five times a second."""

    def __init__(self, key: str, user: User, clock: Callable[[], float] = time.monotonic) -> None:
        self._name, self._clock, self._last = _name(key, user), clock, float("-inf")

    def of(self, what: str, total: int) -> Callable[[int], None]:
        """What hears how many of ``total`` are done."""

        def told(done: int) -> None:
            now = self._clock()
            if done == total or now - self._last >= EVERY_S:
                self._last = now
                cache.set(self._name, {"what": what, "done": done, "total": total}, KEPT_S)

        return told


def progress_of(key: str, user: User) -> dict[str, str | int]:
    """What was told last; empty where nothing is being done."""
    return cache.get(_name(key, user)) or {}


def _name(key: str, user: User) -> str:
    return f"outcome-import-progress:{user.pk}:{key}"
