"""Fixtures every part of the suite may use."""

from pathlib import Path

import pytest

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder with real recordings made by others; tests that need it skip where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the folder of real recordings (../shared/data) is not here")
    return SHARED_DATA
