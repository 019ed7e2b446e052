"""Fixtures every part of the suite may use. The Django part: services of the session, the cast, their browsers."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

if TYPE_CHECKING:
    from django.test import Client

    from labapp.accounts.models import User

# The same examples in every run, and no limit in time for any of them: a busy machine is no defect.
hypothesis.settings.register_profile(
    "steady",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("steady")

pytest_plugins = ["tests.order", "tests.scratch", "tests.runs_fixtures", "tests.chromium"]

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder with real recordings made by others; tests that need it skip where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the folder of real recordings (../shared/data) is not here")
    return SHARED_DATA


@pytest.fixture
def make_user(db: Any) -> Callable[..., "User"]:
    """``make_user("pi")``; further arguments are fields of the user."""
    from labapp.accounts.models import User

    def make(role: str, **fields: Any) -> User:
        username = fields.pop("username", role)
        return User.objects.create_user(username=username, password="correct-horse", role=role, **fields)

    return make


@pytest.fixture
def operator(make_user: Callable[..., "User"]) -> "User":
    return make_user("operator")


@pytest.fixture
def researcher(make_user: Callable[..., "User"]) -> "User":
    return make_user("researcher")


@pytest.fixture
def pi(make_user: Callable[..., "User"]) -> "User":
    return make_user("pi")


@pytest.fixture
def browser_of() -> Callable[["User"], "Client"]:
    """``browser_of(user)``: a test client signed in as that user."""
    from django.test import Client

    def sign_in(user: "User") -> Client:
        client = Client()
        client.force_login(user)
        return client

    return sign_in
