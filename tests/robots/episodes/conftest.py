"""Folders most tests of this room start from."""

from pathlib import Path

import pytest

from tests.robots.episodes.builders import make_folder, make_foreign_folder


@pytest.fixture
def folder(tmp_path) -> Path:
    """Three episodes of our own writer."""
    return make_folder(tmp_path / "episodes")


@pytest.fixture
def foreign(tmp_path) -> Path:
    """Four episodes in one data file and two video files."""
    return make_foreign_folder(tmp_path / "foreign")
