"""Free ports, and who holds a busy one."""

import random
import socket

import psutil

HOST = "127.0.0.1"
SERVICE_PORTS = range(15_000, 32_768)  # below those of outgoing connections, which would take a dead server's port


def is_free(port: int, host: str = HOST) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def free_port(host: str = HOST) -> int:
    for port in random.sample(SERVICE_PORTS, 20):
        if is_free(port, host):
            return port
    with socket.socket() as probe:
        probe.bind((host, 0))
        return probe.getsockname()[1]


def holder(port: int) -> str:
    """``name (pid)`` of the process that listens on a port, as far as this user may see it."""
    try:
        for connection in psutil.net_connections("inet"):
            if connection.status == psutil.CONN_LISTEN and connection.laddr.port == port and connection.pid:
                return f"{psutil.Process(connection.pid).name()} ({connection.pid})"
    except psutil.Error:
        pass
    return "another process"


def choose_port(wanted: int, host: str = HOST) -> tuple[int, str]:
    """The wanted port, or a free one with a sentence that says why. 0 means any."""
    if wanted and is_free(wanted, host):
        return wanted, ""
    port = free_port(host)
    if not wanted:
        return port, ""
    return port, f"port {wanted} is held by {holder(wanted)}; taking {port} instead"
