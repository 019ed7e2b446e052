"""A policy server that never moves: `python fake_server.py FOLDER SOCKET`. FOLDER/behavior says how it misbehaves."""

import socket
import sys
import time
from pathlib import Path

import numpy as np

from robots.messages import recv_frame, send_frame

JOINTS = 54


def main(folder: Path, path: str) -> None:
    behavior = (folder / "behavior").read_text().strip() if (folder / "behavior").exists() else "still"
    if behavior == "no start":
        sys.exit(3)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    connection, _ = listener.accept()
    while True:
        try:
            request = recv_frame(connection)
        except EOFError:
            return
        if "ping" in request:
            views = ["head", "sonar"] if behavior == "strange view" else ["head"]
            robot = "toy" if behavior == "other robot" else "rizon4s_wuji2_dual"
            send_frame(connection, {"pong": 1, "embodiment": robot, "views": views, "state_dim": JOINTS})
            continue
        if behavior == "crash":
            sys.exit(4)
        if behavior == "second block held" and len(request["batch"]) == 1:
            wait_for(folder / "go")
        actions = [np.tile(one["state"][-1], (40, 1)) for one in request["batch"]]
        send_frame(connection, {"actions": np.stack(actions), "latency_ms": 1.0})


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 25
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.01)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
