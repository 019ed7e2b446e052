"""The whole lab on one machine: services, database, web server, workers, sweeper, agent, and the quick study."""

import contextlib
import fcntl
import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx

from labapp.services.base import Report, ServiceError
from labapp.services.embedded import EmbeddedServices
from labapp.services.ports import choose_port
from labapp.services.process import wait_until
from labapp.services.supervisor import Program, Supervisor, signal_group

WEB_START_S = 60.0
SERVICE_CHECK_S = 2.0
TICK_S = 0.5
WEB_ENVIRON = {"DATABASE_POOL": "16"}  # one process: a second one gained nothing where two cores do everything else too
WARM_POLICIES = 6  # arms alternate: the quick study keeps its five policies loaded
QUEUES = "default,generation,training,analysis"


class StackError(RuntimeError):
    """The lab could not be started; the message says what and where to look."""


@dataclass(frozen=True)
class StackOptions:
    var: Path
    root: Path
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 2
    has_agent: bool = True
    study: str = "quick"  # empty: none


class Stack:
    """Start with ``run``; it returns when a signal asks for the end or the study's exit status matters no more."""

    def __init__(self, options: StackOptions, report: Report = print) -> None:
        self.options = options
        self.report = report
        self.services = EmbeddedServices(options.var)
        self.supervisor = Supervisor(options.var, options.root, report)
        self.study: subprocess.Popen[bytes] | None = None
        self.url = ""
        logging.getLogger("httpx").setLevel(logging.WARNING)

    def run(self) -> None:
        with self._alone(), self._signals():
            started: list[str] = []
            try:
                started = self.services.up(self.report)
                self._prepare()
                self._start_programs()
                self._start_study()
                self._serve()
            except ServiceError as error:
                raise StackError(str(error)) from error
            finally:
                self._stop(started)

    def _prepare(self) -> None:
        self.supervisor.stop_leftovers()
        self.report("Database: bringing the tables up to date")
        self._manage("migrate", "--noinput", "--verbosity=0")
        passwords = json.loads(self._manage("demo_logins", "--json"))
        if passwords:
            self.report("Logins, shown only this once (manage.py demo_logins --reset draws new ones):")
            for username, password in passwords.items():
                self.report(f"    {username:12}{password}")
        else:
            self.report("Logins: as shown at the first start (manage.py demo_logins --reset draws new ones)")

    def _start_programs(self) -> None:
        port, remark = choose_port(self.options.port, self.options.host)
        if remark:
            self.report(f"Web server: {remark}")
        self.url = f"http://{self.options.host}:{port}"
        (self.options.var / "static").mkdir(exist_ok=True)
        command = self._python("uvicorn", "labapp.asgi:application", *self._web_options(port))
        self.supervisor.start(Program("web", command, WEB_ENVIRON))
        self._wait_for_web()
        self.report(f"Serving {self.url}")
        for number in range(1, self.options.workers + 1):
            self.supervisor.start(Program(f"worker-{number}", self._python("celery", *worker_options(number))))
        self.supervisor.start(Program("sweeper", [sys.executable, "manage.py", "sweep_runs", "--forever"]))
        if self.options.has_agent:
            self.supervisor.start(self._agent())

    def _web_options(self, port: int) -> list[str]:
        return ["--host", self.options.host, "--port", str(port), "--no-access-log", "--timeout-graceful-shutdown", "3"]

    def _wait_for_web(self) -> None:
        if (
            not wait_until(self._web_answers, timeout_s=WEB_START_S, step_s=0.2)
            and not self.supervisor.stopping.is_set()
        ):
            raise StackError(f"The web server did not answer; see {self.supervisor.log_of('web')}")

    def _web_answers(self) -> bool:
        if self.supervisor.stopping.is_set():
            return True
        try:
            return httpx.get(f"{self.url}/login/", timeout=2).status_code == 200
        except httpx.HTTPError:
            return False

    def _agent(self) -> Program:
        facts = json.loads(self._manage("agent_token"))
        command = self._python("robots", "agent", "--lab", self.url, "--bench-seed", str(facts["bench_seed"]))
        options = ["--pace", "fast", "--warm", str(WARM_POLICIES), "--state-dir", str(self.options.var / "agent")]
        environ = {"GROUNDLAB_AGENT_TOKEN": facts["token"], "MUJOCO_GL": os.environ.get("MUJOCO_GL", "egl")}
        return Program("agent", [*command, *options], environ)

    def _start_study(self) -> None:
        """The study talks to the terminal itself: its progress bars and its table."""
        if self.options.study and not self.supervisor.stopping.is_set():
            command = [sys.executable, "manage.py", "run_study", "--preset", self.options.study]
            self.study = subprocess.Popen(command, cwd=self.options.root, start_new_session=True)

    def _serve(self) -> None:
        next_service_check = 0.0
        while not self.supervisor.stopping.wait(TICK_S):
            self.supervisor.check()
            if time.monotonic() > next_service_check:
                self._check_services()
                next_service_check = time.monotonic() + SERVICE_CHECK_S
            if self.study and self.study.poll() is not None:
                self._note_study_end(self.study.returncode)
                self.study = None

    def _check_services(self) -> None:
        for status in self.services.status():
            if status.state == "stopped":
                self.report(f"{status.label}: is gone; starting it again")
                with contextlib.suppress(ServiceError):
                    self.services.up(self.report)

    def _note_study_end(self, status: int) -> None:
        if status == 0:
            self.report(f"The study is done. The dashboard stays at {self.url} until Ctrl-C.")
        else:
            self.report(f"The study ended with status {status}. The dashboard stays at {self.url} until Ctrl-C.")

    def _stop(self, started: list[str]) -> None:
        self.report("Stopping")
        if self.study and self.study.poll() is None:
            signal_group(self.study.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.study.wait(10)
            signal_group(self.study.pid, signal.SIGKILL)
        self.supervisor.stop_all()
        self.services.down(self.report, only=started)

    def _manage(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=self.options.root,
            capture_output=True,
            text=True,
            check=False,
            start_new_session=True,
        )
        if done.returncode:
            raise StackError(f"manage.py {arguments[0]} failed:\n{done.stderr.strip()[-2000:]}")
        return done.stdout

    @staticmethod
    def _python(module: str, *arguments: str) -> list[str]:
        return [sys.executable, "-m", module, *arguments]

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """One lab on one ``var`` folder."""
        self.options.var.mkdir(parents=True, exist_ok=True)
        with (self.options.var / "demo.lock").open("a+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise StackError(f"The lab already runs on {self.options.var}; stop that one first.") from error
            yield

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        names = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        before = {name: signal.signal(name, lambda *_: self.supervisor.stopping.set()) for name in names}
        try:
            yield
        finally:
            for name, handler in before.items():
                signal.signal(name, handler)


def worker_options(number: int) -> list[str]:
    """One run at a time in each worker; runs are few and long, so the workers need no gossip."""
    options = ["--pool=threads", "--concurrency=1", f"--queues={QUEUES}", f"--hostname=worker-{number}@%h"]
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel=INFO"]
    return ["-A", "labapp.celery", "worker", *options, *quiet]
