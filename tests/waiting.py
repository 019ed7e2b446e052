"""Waiting for something that another process or thread does."""

import time
from collections.abc import Callable


def wait_until(is_so: Callable[[], object], timeout_s: float = 60.0) -> bool:
    deadline = time.monotonic() + timeout_s
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.02)
    return bool(is_so())
