"""The embedded services: up twice, down, busy ports, other people's servers, root and ordinary users."""

import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from labapp.services.embedded import EmbeddedServices
from labapp.services.ports import choose_port, free_port, holder
from labapp.services.redis_server import RedisServer

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def var() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="groundlab-services-"))
    yield folder
    EmbeddedServices(folder).down(lambda line: None)
    shutil.rmtree(folder)


def test_up_is_idempotent_and_down_leaves_no_process(var):
    services = EmbeddedServices(var, durable=False)
    assert services.up(lambda line: None) == ["postgres", "redis", "s3"]
    pids = [status.pid for status in services.status()]
    assert [status.state for status in services.status()] == ["answers"] * 3
    assert services.up(lambda line: None) == []
    assert [status.pid for status in services.status()] == pids
    assert services.down(lambda line: None) == ["s3", "redis", "postgres"]
    assert not any(psutil.pid_exists(pid) for pid in pids)
    assert [status.state for status in services.status()] == ["stopped"] * 3
    assert services.down(lambda line: None) == []


def test_credentials_are_readable_by_their_owner_only_and_survive_a_restart(var):
    services = EmbeddedServices(var, durable=False)
    services.up(lambda line: None)
    assert stat.S_IMODE((var / "services.json").stat().st_mode) == 0o600
    before = json.loads((var / "services.json").read_text())["addresses"]
    services.down(lambda line: None)
    services.up(lambda line: None)
    assert json.loads((var / "services.json").read_text())["addresses"] == before


def test_a_killed_service_is_started_again_on_its_port(var):
    services = EmbeddedServices(var, durable=False)
    services.up(lambda line: None)
    redis = services.service("redis")
    psutil.Process(redis.facts["pid"]).kill()
    assert services.up(lambda line: None) == ["redis"]
    assert services.service("redis").port == redis.port


def test_a_busy_port_is_named_and_another_one_taken(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said: list[str] = []
        server = RedisServer(tmp_path, {"port": port}, durable=False)
        try:
            server.start(said.append)
            assert server.port != port
            assert f"port {port} is held by {holder(port)}" in said[0]
        finally:
            server.stop()


def test_a_free_port_is_kept():
    port = free_port()
    assert choose_port(port) == (port, "")


def test_a_server_that_the_environment_names_is_left_to_others(var, monkeypatch):
    for variable in ("DATABASE_URL", "REDIS_URL", "S3_ENDPOINT"):
        monkeypatch.setenv(variable, "somewhere://else")
    services = EmbeddedServices(var)
    assert services.up(lambda line: None) == []
    assert {status.state for status in services.status()} == {"external"}


def run_as(uid: int, gid: int, python: str, script: str) -> subprocess.CompletedProcess[str]:
    """A script by another user; that user's Python borrows our packages."""
    packages = sysconfig.get_path("purelib")
    return subprocess.run(
        [python, "-c", script],
        cwd=ROOT,
        env={"PYTHONPATH": packages, "PATH": f"{sysconfig.get_path('scripts')}:/usr/bin:/bin", "HOME": "/"},
        user=uid,
        group=gid,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=False,
    )


def python_for(uid: int, gid: int) -> str | None:
    """A Python of our version that the other user may run; ours may lie in a closed home."""
    for python in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        try:
            done = run_as(uid, gid, python, "import sys; print(sys.version_info[:2])")
        except OSError:
            continue
        if done.stdout.strip() == str(sys.version_info[:2]):
            return python
    return None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_an_ordinary_user_can_run_them(var):
    import pwd

    nobody = pwd.getpwnam("nobody")
    python = python_for(nobody.pw_uid, nobody.pw_gid)
    if python is None:
        pytest.skip("no Python of this version is open to another user")
    os.chown(var, nobody.pw_uid, nobody.pw_gid)
    script = (
        # redis-py wants the package async_timeout before 3.11.3, and a distribution's Python may be older than ours
        "import asyncio, sys, types; "
        "sys.modules.setdefault('async_timeout', types.SimpleNamespace(timeout=asyncio.timeout)); "
        "from pathlib import Path; from labapp.services.embedded import EmbeddedServices as E; "
        f"s = E(Path({str(var)!r}), durable=False); s.up(); print([x.state for x in s.status()]); s.down()"
    )
    done = run_as(nobody.pw_uid, nobody.pw_gid, python, script)
    assert "['answers', 'answers', 'answers']" in done.stdout, done.stderr
