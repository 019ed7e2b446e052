"""The whole lab under its supervisor: it serves, restarts what crashes, and leaves nothing behind."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]
NO_SERVICES = ("DATABASE_URL", "REDIS_URL", "S3_ENDPOINT", "S3_ACCESS_KEY", "S3_SECRET_KEY", "S3_BUCKET")


class Lab:
    """``manage.py demo`` on a folder of its own, with what it says."""

    def __init__(self, var: Path) -> None:
        environ = {name: value for name, value in os.environ.items() if name not in NO_SERVICES}
        self.output = (var.parent / f"{var.name}.out").open("w+")
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "demo", "--no-study", "--no-agent", "--port", "0", "--workers", "1"],
            cwd=ROOT,
            env=environ | {"GROUNDLAB_VAR": str(var), "DJANGO_SETTINGS_MODULE": "labapp.settings.dev"},
            stdout=self.output,
            stderr=subprocess.STDOUT,
        )

    def said(self) -> str:
        self.output.flush()
        return Path(self.output.name).read_text()

    def wait_for(self, pattern: str, seconds: float = 180) -> str:
        deadline = time.monotonic() + seconds
        while not (match := re.search(pattern, self.said())):
            assert self.process.poll() is None, self.said()
            assert time.monotonic() < deadline, self.said()
            time.sleep(0.1)
        return match.group(match.lastindex or 0)

    def family(self) -> dict[str, psutil.Process]:
        return {" ".join(child.cmdline()): child for child in psutil.Process(self.process.pid).children()}

    def stop(self, signum: signal.Signals = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signum)
        return self.process.wait(120)


@pytest.fixture
def folder() -> Iterator[Path]:
    parent = Path(tempfile.mkdtemp(prefix="groundlab-stack-"))
    yield parent / "var"
    shutil.rmtree(parent)


@pytest.fixture
def start_lab(folder: Path) -> Iterator:
    labs: list[Lab] = []

    def start() -> Lab:
        labs.append(Lab(folder))
        return labs[-1]

    yield start
    for lab in labs:
        lab.stop()


def processes_of(folder: Path) -> list[str]:
    found = []
    for process in psutil.process_iter(["cmdline", "environ"]):
        words = " ".join(process.info["cmdline"] or [])
        is_ours = (process.info["environ"] or {}).get("GROUNDLAB_VAR") == str(folder)
        if is_ours or str(folder) in words:
            found.append(words)
    return found


@pytest.mark.timeout(400)
def test_the_lab_serves_restarts_a_crashed_child_and_stops_without_a_trace(start_lab, folder):
    lab = start_lab()
    url = lab.wait_for(r"Serving (http://\S+)")
    lab_answers(url)
    assert "researcher" in lab.said()

    web = next(child for words, child in lab.family().items() if "uvicorn" in words)
    web.kill()
    lab.wait_for(r"web: started again")
    lab_answers(url)

    second = start_lab()
    assert second.process.wait(120) == 1
    assert "already runs" in second.said()

    assert lab.stop(signal.SIGINT) == 0
    assert wait_until(lambda: not processes_of(folder)), processes_of(folder)


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_second_start_reuses_what_is_there_even_after_a_kill(start_lab, folder):
    first = start_lab()
    first.wait_for(r"Serving http")
    first.process.kill()
    first.process.wait()
    second = start_lab()
    second.wait_for(r"Serving http")
    assert "left over from an earlier start" in second.said()
    assert "Logins: as shown at the first start" in second.said()
    assert second.stop() == 0
    assert wait_until(lambda: not any("uvicorn" in words for words in processes_of(folder)))
    subprocess.run(
        [sys.executable, "manage.py", "services", "down"],
        cwd=ROOT,
        env=os.environ | {"GROUNDLAB_VAR": str(folder), "DJANGO_SETTINGS_MODULE": "labapp.settings.dev"},
        check=True,
        capture_output=True,
    )
    assert wait_until(lambda: not processes_of(folder)), processes_of(folder)


def lab_answers(url: str) -> None:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        try:
            assert httpx.get(f"{url}/login/", timeout=20).status_code == 200
            return
        except httpx.HTTPError:
            time.sleep(0.2)
    raise AssertionError("the web server did not come back")
