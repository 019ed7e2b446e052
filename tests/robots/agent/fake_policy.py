"""A policy server that holds still: `python fake_policy.py FOLDER SOCKET`. FOLDER/behavior says how it misbehaves."""

import socket
import sys
from pathlib import Path

import numpy as np

from robots.messages import recv_frame, send_frame


def main(folder: Path, path: str) -> None:
    behavior = (folder / "behavior").read_text().strip() if (folder / "behavior").exists() else "hold"
    if behavior == "no start":
        sys.exit(3)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    connection, _ = listener.accept()
    asked = 0
    while True:
        request = recv_frame(connection)
        if "ping" in request:
            views = ["head", "sonar"] if behavior == "strange view" else ["head"]
            facts = {"pong": 1, "embodiment": "toy", "views": views, "state_dim": 3, "image_size": 16}
            send_frame(connection, facts)
            continue
        asked += 1
        if behavior == "crash" and asked == 2:
            sys.exit(4)
        if behavior == "refuse":
            send_frame(connection, {"error": "secret policy name: I do not like this"})
            continue
        actions = np.tile(request["state"][-1], (40, 1)) + np.linspace(0, 1, 40)[:, None].astype(np.float32)
        send_frame(connection, {"actions": actions, "latency_ms": 5.0})


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
