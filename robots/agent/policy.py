"""The policy in its own process: `python -m training serve FOLDER --socket PATH`, asked over a Unix socket."""

import contextlib
import logging
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robots.messages import FrameError, recv_frame, send_frame

logger = logging.getLogger(__name__)

START_TIMEOUT_S = 120.0
ANSWER_TIMEOUT_S = 30.0


class PolicyError(Exception):
    """The policy server cannot be asked; the text is fit for an operator (it names no policy)."""


@dataclass(frozen=True)
class PolicyFacts:
    """What a policy server says of its policy."""

    embodiment: str
    views: tuple[str, ...]
    state_dim: int
    image_size: int | None = None


def serve_command(folder: Path, socket_path: Path) -> list[str]:
    """The command that serves a checkpoint; only its name is known here, never its modules.

    The server ends with the process that asked for it, even when that is killed.
    """
    command = [sys.executable, "-m", "training", "serve", str(folder), "--socket", str(socket_path)]
    return [*command, "--exit-with-parent"]


class PolicyServer:
    """One running policy server and the connection to it."""

    def __init__(self, folder: Path, command: Callable[[Path, Path], Sequence[str]], log_path: Path) -> None:
        self._scratch = tempfile.TemporaryDirectory(prefix="policy-")
        self._socket_path = Path(self._scratch.name) / "socket"
        self._socket: socket.socket | None = None
        self._facts: PolicyFacts | None = None
        with log_path.open("ab") as log:
            self._process = subprocess.Popen(
                list(command(folder, self._socket_path)),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env={**os.environ, "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1")},
            )

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def ready(self, timeout_s: float = START_TIMEOUT_S, cancelled: Callable[[], bool] = lambda: False) -> PolicyFacts:
        """Wait until the server answers, and return what it serves.

        Raises:
            PolicyError: it ended, was too slow, or the wait was cancelled.
        """
        deadline = time.monotonic() + timeout_s
        while self._facts is None:
            if not self.is_running:
                raise PolicyError(f"The policy server ended while it started (status {self._process.returncode}).")
            if time.monotonic() > deadline or cancelled():
                raise PolicyError(f"The policy server was not ready within {timeout_s:g} s.")
            with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
                self._connect()
                self._facts = _facts(self._ask({"ping": 1}))
                break
            time.sleep(0.02)
        return self._facts

    def infer(
        self, images: Mapping[str, NDArray[np.uint8]], state: NDArray[np.float32], instruction: str
    ) -> tuple[NDArray[np.float32], float]:
        """An action chunk (K, n) [rad] and the inference time [ms].

        Args:
            images: view name to uint8 (H, W, 3).
            state: measured positions, float32 (20, n), oldest first.

        Raises:
            PolicyError: the server died, answered an error, or answered nothing in time.
        """
        request = {"images": dict(images), "state": state, "instruction": instruction, "embodiment": self._embodiment}
        answer = self._ask(request)
        if "actions" not in answer:
            raise PolicyError("The policy server refused the observation.")
        return answer["actions"], float(answer.get("latency_ms", 0.0))

    def infer_many(self, requests: Sequence[Mapping[str, Any]]) -> NDArray[np.float32]:
        """Action chunks (B, K, n) [rad] for B requests at once, each with images, state, instruction and seed.

        Raises:
            PolicyError: as `infer`.
        """
        answer = self._ask({"batch": [{**request, "embodiment": self._embodiment} for request in requests]})
        if "actions" not in answer:
            raise PolicyError("The policy server refused the observations.")
        actions: NDArray[np.float32] = answer["actions"]
        return actions

    def close(self) -> None:
        """End the process and everything it started."""
        if self._socket is not None:
            self._socket.close()
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=3.0)
                break
        self._scratch.cleanup()

    @property
    def _embodiment(self) -> str:
        return self._facts.embodiment if self._facts else ""

    def _connect(self) -> None:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(str(self._socket_path))
        except OSError:
            connection.close()
            raise
        connection.settimeout(ANSWER_TIMEOUT_S)
        self._socket = connection

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._socket is None:
            raise PolicyError("The policy server is not connected.")
        try:
            send_frame(self._socket, request)
            answer = recv_frame(self._socket)
        except (OSError, EOFError, FrameError) as error:
            logger.warning("policy server: %s", error)
            raise PolicyError("The policy server stopped answering.") from error
        if not isinstance(answer, dict) or "error" in answer:
            logger.warning("policy server: %s", answer)
            raise PolicyError("The policy server answered with an error.")
        return answer


def _facts(answer: Mapping[str, Any]) -> PolicyFacts:
    try:
        size = answer.get("image_size")
        return PolicyFacts(
            embodiment=str(answer["embodiment"]),
            views=tuple(answer["views"]),
            state_dim=int(answer["state_dim"]),
            image_size=int(size) if size else None,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise PolicyError("The policy server does not say what it serves.") from error


class PolicyPool:
    """At most `warm` running servers, one per checkpoint folder; the least recently used one ends first."""

    def __init__(
        self, log_path: Path, warm: int = 2, command: Callable[[Path, Path], Sequence[str]] = serve_command
    ) -> None:
        self._log_path = log_path
        self._warm = max(1, warm)
        self._command = command
        self._servers: OrderedDict[Path, PolicyServer] = OrderedDict()
        self._lock = threading.Lock()

    def server(self, folder: Path) -> PolicyServer:
        """The server of a checkpoint, started when it is not running; ask `ready` before the first inference."""
        with self._lock:
            server = self._servers.pop(folder, None)
            if server is not None and not server.is_running:
                server.close()
                server = None
            self._servers[folder] = server or PolicyServer(folder, self._command, self._log_path)
            while len(self._servers) > self._warm:
                self._servers.popitem(last=False)[1].close()
            return self._servers[folder]

    def discard(self, folder: Path) -> None:
        """End a server that misbehaved; the next trial starts a fresh one."""
        with self._lock:
            server = self._servers.pop(folder, None)
        if server is not None:
            server.close()

    def close(self) -> None:
        while self._servers:
            self._servers.popitem()[1].close()
