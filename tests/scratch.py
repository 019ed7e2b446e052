"""PostgreSQL, Redis and an object store of the test session's own, started when the first test needs them.

One set serves all pytest-xdist workers: each has its own database (pytest-django), Redis database and bucket. A server
that ``DATABASE_URL``, ``REDIS_URL`` or ``S3_ENDPOINT`` names is used instead. Several sessions may run side by side.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from labapp.services.base import EmbeddedService
from labapp.services.embedded import EmbeddedServices

VARIABLE = "GROUNDLAB_TEST_SCRATCH"
PREFIX = "groundlab-test-"


def worker_name() -> str:
    return os.environ.get("PYTEST_XDIST_WORKER", "gw0")


def pytest_configure(config: pytest.Config) -> None:
    """The controlling process draws the folder; workers inherit its name."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    remove_abandoned()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    (folder / "owner").write_text(str(os.getpid()))
    os.environ[VARIABLE] = str(folder)


def pytest_unconfigure(config: pytest.Config) -> None:
    if "PYTEST_XDIST_WORKER" in os.environ or VARIABLE not in os.environ:
        return
    remove(Path(os.environ.pop(VARIABLE)))


def remove(folder: Path) -> None:
    EmbeddedServices(folder / "var", durable=False).down(lambda line: None)
    shutil.rmtree(folder, ignore_errors=True)


def remove_abandoned() -> None:
    """Stop what a killed session left running."""
    for owner in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/owner"):
        if os.access(owner, os.W_OK) and not psutil.pid_exists(int(owner.read_text())):
            remove(owner.parent)


@pytest.fixture(scope="session")
def scratch() -> Path:
    """This worker's folder for everything that the application keeps under ``var/``."""
    folder = Path(os.environ[VARIABLE]) / worker_name()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def services(scratch: Path) -> Iterator[EmbeddedServices]:
    """The running services, with the settings pointing to them."""
    from django.conf import settings
    from django.test.utils import override_settings

    from labapp.celery import app
    from labapp.settings.backends import backend_settings

    embedded = EmbeddedServices(Path(os.environ[VARIABLE]) / "var", durable=False)
    embedded.up(lambda line: None)
    values = backend_settings(own_addresses(embedded), prefix=f"test-{worker_name()}")
    settings.DATABASES["default"].update(values.pop("DATABASES")["default"])
    app.conf.update(
        broker_url=values["CELERY_BROKER_URL"], broker_transport_options=values["CELERY_BROKER_TRANSPORT_OPTIONS"]
    )
    with override_settings(VAR_DIR=scratch, RUNS_DIR=scratch / "runs", **values):
        from labapp import storage

        storage.ensure_bucket()
        yield embedded


def own_addresses(embedded: EmbeddedServices) -> dict[str, str]:
    """The session's addresses with this worker's Redis database and bucket."""
    from labapp.settings.backends import addresses

    known = addresses(embedded.var)
    number = 1 + int(worker_name().removeprefix("gw"))
    if known["REDIS_URL"].endswith("/0"):
        known["REDIS_URL"] = f"{known['REDIS_URL'].removesuffix('/0')}/{number}"
    return known | {"S3_BUCKET": f"test-{worker_name()}"}


@pytest.fixture
def own_service(tmp_path: Path) -> Iterator[Callable[[type[EmbeddedService]], EmbeddedService]]:
    """``own_service(RedisServer)``: a server of this test's own, which it may stop without disturbing other tests."""
    running: list[EmbeddedService] = []

    def start(kind: type[EmbeddedService]) -> EmbeddedService:
        service = kind(tmp_path / "own", {}, durable=True)
        service.start(lambda line: None)
        running.append(service)
        return service

    yield start
    for service in running:
        service.stop()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    services: EmbeddedServices, django_db_modify_db_settings_parallel_suffix: None
) -> None:
    """pytest-django makes its test database on the session's server, one for each worker."""


@pytest.fixture
def service_environ(services: EmbeddedServices, scratch: Path, db: Any) -> dict[str, str]:
    """Environment for a child process (worker, server, command) that is to see this worker's test database."""
    return child_environ(scratch)


def child_environ(scratch: Path) -> dict[str, str]:
    """The same for what outlives one test; the test database must be there (`django_db_setup`)."""
    from django.conf import settings

    database, store = settings.DATABASES["default"], settings.OBJECT_STORE
    login = f"{database['USER']}:{database['PASSWORD']}@{database['HOST']}:{database['PORT']}"
    return os.environ | {
        "DJANGO_SETTINGS_MODULE": "labapp.settings.test",
        "GROUNDLAB_VAR": str(scratch),
        "DATABASE_URL": f"postgresql://{login}/{database['NAME']}",
        "REDIS_URL": settings.REDIS_URL,
        "REDIS_PREFIX": f"test-{worker_name()}",
        "S3_ENDPOINT": store.endpoint,
        "S3_ACCESS_KEY": store.access_key,
        "S3_SECRET_KEY": store.secret_key,
        "S3_BUCKET": store.bucket,
    }
