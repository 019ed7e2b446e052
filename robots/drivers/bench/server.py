"""Sockets of the bench process: one Unix socket each for drivers, operator and referee, msgpack frames, one thread."""

import contextlib
import logging
import selectors
import socket
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from robots.cell.description import CONTROL_HZ
from robots.cell.initial import InitialState
from robots.drivers.bench.simulation import BenchSimulation
from robots.drivers.protocols import EmergencyStopError
from robots.messages.frames import FrameError, recv_frame, send_frame

CHANNELS = ("drivers", "operator", "referee")
Handler = Callable[[Mapping[str, Any]], Any]
logger = logging.getLogger(__name__)


def channel_handlers(sim: BenchSimulation) -> dict[str, dict[str, Handler]]:
    """What each channel understands. Ground truth is on the referee's alone."""
    return {"drivers": _driver_handlers(sim), "operator": _operator_handlers(sim), "referee": _referee_handlers(sim)}


def _driver_handlers(sim: BenchSimulation) -> dict[str, Handler]:
    def tick(message: Mapping[str, Any]) -> Any:
        if message.get("action") is not None:
            sim.command(message["action"])
        return sim.tick()

    return {
        "hello": lambda _: {"cell": sim.cell.name, "pace": sim.pace, "hz": CONTROL_HZ, "is_simulated": True},
        "configure": lambda m: sim.configure(int(m["image_size"]), m.get("fps"), list(m["streams"])),
        "read": lambda _: sim.reading(),
        "tick": tick,
        "frame": lambda m: sim.frame(m["camera"], tuple(m["size"]) if m.get("size") else None),
        "belt": lambda m: sim.set_belt_speed(float(m["speed"])),
        "stop": lambda _: sim.stop(),
        "reset_stop": lambda _: sim.reset_stop(),
    }


def _operator_handlers(sim: BenchSimulation) -> dict[str, Handler]:
    return {
        "place": lambda m: sim.place(InitialState.from_dict(m["initial"])),
        "clear": lambda _: sim.clear(),
        "light": lambda m: sim.set_light(str(m["light"])),
        "belt": lambda m: sim.set_belt_speed(float(m["speed"])),
        "board": lambda m: sim.put_board(str(m["where"]), np.array(m["position"]), np.array(m["quat_wxyz"])),
        "stop": lambda _: sim.stop(),
        "reset_stop": lambda _: sim.reset_stop(),
    }


def _referee_handlers(sim: BenchSimulation) -> dict[str, Handler]:
    return {
        "verdict": lambda _: sim.verdict(),
        "progress": lambda _: sim.progress(),
        "truth": lambda _: sim.truth(),
    }


def answer(handlers: Mapping[str, Handler], message: Any) -> dict[str, Any]:
    """Reply to one request: `{"result": ...}`, or `{"error": text, "kind": ...}`; never a traceback."""
    op = message.get("op") if isinstance(message, dict) else None
    if not isinstance(op, str) or op not in handlers:
        return {"error": f"unknown request {op!r}; this channel knows {', '.join(handlers)}", "kind": "request"}
    try:
        return {"result": handlers[op](message)}
    except EmergencyStopError as error:
        return {"error": str(error), "kind": "emergency_stop"}
    except (ValueError, KeyError, TypeError) as error:
        return {"error": f"{op}: {error}", "kind": "value"}
    except Exception:
        logger.exception("the bench failed on request %s", op)
        return {"error": f"{op}: the bench failed; its log says why", "kind": "internal"}


def serve(sim: BenchSimulation, folder: Path, *, exit_with_parent: bool = False) -> None:
    """Answer requests until interrupted, or until standard input closes when `exit_with_parent`."""
    handlers = channel_handlers(sim)
    with selectors.DefaultSelector() as selector, contextlib.ExitStack() as stack:
        for channel in CHANNELS:
            listener = stack.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(str(folder / f"{channel}.sock"))
            listener.listen()
            selector.register(listener, selectors.EVENT_READ, ("listen", channel))
        if exit_with_parent:
            selector.register(sys.stdin, selectors.EVENT_READ, ("parent", ""))
        print("ready", flush=True)
        while True:
            for key, _ in selector.select():
                kind, channel = key.data
                if kind == "parent":
                    return
                if kind == "listen":
                    connection, _ = key.fileobj.accept()  # type: ignore[union-attr]
                    stack.enter_context(connection)
                    selector.register(connection, selectors.EVENT_READ, ("client", channel))
                else:
                    _serve_one(selector, key.fileobj, handlers[channel])  # type: ignore[arg-type]


def _serve_one(selector: selectors.BaseSelector, connection: socket.socket, handlers: Mapping[str, Handler]) -> None:
    try:
        send_frame(connection, answer(handlers, recv_frame(connection)))
    except (EOFError, FrameError, OSError):
        selector.unregister(connection)
        connection.close()
