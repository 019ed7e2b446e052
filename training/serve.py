"""Policy server on a Unix socket: the robot's process asks, this one thinks, so that robots never import torch.

A request holds `images`, `state`, `instruction`, `embodiment`, and may hold the `seed` of its noise; `{"batch": [...]}`
asks for many at once and gets their chunks stacked.
"""

from __future__ import annotations

import logging
import socket
import socketserver
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from robots.errors import ConfigError
from robots.messages import FrameError, recv_frame, send_frame
from training.inference import Seen, TrainedPolicy

logger = logging.getLogger(__name__)
WARM_UP = 3


class PolicyServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Any number of clients may be connected; the policy answers one request at a time."""

    daemon_threads = True

    def __init__(self, policy: TrainedPolicy, path: Path) -> None:
        self.policy = policy
        self.busy = threading.Lock()
        self.path = path
        clear_stale_socket(path)
        super().__init__(str(path), _Client)

    def answer(self, request: Any) -> dict[str, Any]:
        """Reply to one request; a bad one gets `{"error": reason}`."""
        if not isinstance(request, dict):
            return {"error": "a request is an object"}
        if "ping" in request:
            shape = self.policy.net.shape
            return {
                "pong": 1,
                "embodiment": shape.embodiments[0],
                "views": list(shape.views),
                "state_dim": shape.state_dim,
                "image_size": shape.image_size,
                "chunk": shape.chunk,
            }
        try:
            return self._act(request)
        except (KeyError, TypeError, ValueError) as error:
            reason = f"field {error} is missing" if isinstance(error, KeyError) else str(error)
            return {"error": reason}
        except Exception:
            logger.exception("the policy failed on a request")
            return {"error": "the policy failed on this request; the server's log says why"}

    def _act(self, request: dict[str, Any]) -> dict[str, Any]:
        started = time.perf_counter()
        asked = request.get("batch", [request])
        if not isinstance(asked, list) or not all(isinstance(one, dict) for one in asked):
            raise ValueError("batch is a list of requests")
        seen = [_seen(one) for one in asked]
        with self.busy:
            actions = self.policy.act_many(seen)
        answer = actions if "batch" in request else actions[0]
        return {"actions": answer, "latency_ms": 1000 * (time.perf_counter() - started)}

    def server_close(self) -> None:
        """Close and remove the socket."""
        super().server_close()
        self.path.unlink(missing_ok=True)


class _Client(socketserver.BaseRequestHandler):
    """One connection: requests are answered in order until the client goes away."""

    server: PolicyServer

    def handle(self) -> None:
        while True:
            try:
                request = recv_frame(self.request)
            except (EOFError, OSError):
                return
            except FrameError as error:
                send_frame(self.request, {"error": str(error)})
                return
            try:
                send_frame(self.request, self.server.answer(request))
            except OSError:
                return


def _seen(request: dict[str, Any]) -> Seen:
    state = np.asarray(request["state"], np.float32)
    seed = request.get("seed")
    if seed is not None and (not isinstance(seed, int) or seed < 0):
        raise ValueError(f"seed must be a whole number from 0 on, not {seed!r}")
    return Seen(request["images"], state, str(request["instruction"]), str(request["embodiment"]), seed)


def clear_stale_socket(path: Path) -> None:
    """Remove a socket that a killed server left.

    Raises:
        ConfigError: when a server still listens there, or something else lies there.
    """
    if not path.exists():
        return
    if not path.is_socket():
        raise ConfigError(f"{path} exists and is no socket", "socket")
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            path.unlink(missing_ok=True)
            return
    raise ConfigError(f"another server listens on {path}", "socket")


def warm_up(policy: TrainedPolicy) -> float:
    """Answer a few blank requests, so that the first real one is as fast as the rest; returns a latency [ms]."""
    elapsed = 0.0
    for _ in range(WARM_UP):
        started = time.perf_counter()
        policy.act(policy.blank())
        elapsed = 1000 * (time.perf_counter() - started)
    return elapsed
