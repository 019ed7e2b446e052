"""The web server as a process of its own, as `make demo` starts it, on the database of the test."""

import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx

from labapp.services.stack import WEB_ENVIRON

ROOT = Path(__file__).resolve().parents[2]
WAIT_S = 60.0


SERVING = re.compile(r"running on http://127\.0\.0\.1:(\d+)")


@contextmanager
def web_server(environ: dict[str, str], log_path: Path) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """Port and process of a running server. It takes the port itself: one that was free before may be so no more."""
    command = [sys.executable, "-m", "uvicorn", "labapp.asgi:application", "--port", "0", "--no-access-log"]
    command += ["--timeout-graceful-shutdown", "3"]
    with log_path.open("w") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environ | WEB_ENVIRON, stdout=log, stderr=log)
        try:
            wait_until(lambda: SERVING.search(log_path.read_text()) or process.poll() is not None)
            assert process.poll() is None, log_path.read_text()
            port = int(SERVING.search(log_path.read_text()).group(1))
            wait_until(lambda: answers(port))
            yield port, process
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=20)
            process.kill()
            process.wait()


def answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/login/", timeout=10).status_code == 200
    except httpx.HTTPError:
        return False


def wait_until(is_true: Callable[[], Any], timeout_s: float = WAIT_S) -> None:
    deadline = time.monotonic() + timeout_s
    while not is_true():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)
