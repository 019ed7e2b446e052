"""The files that take longest come first: of several workers none is left alone with one of them at the end."""

import pytest

# By what a file took on two cores; a prefix stands for every file below it.
LONGEST = (
    "tests/integration/test_generation_and_training_survival",
    "tests/integration/test_worker_survival",
    "tests/browser/",
    "tests/integration/",
    "tests/labapp/studies/browser/test_playback",
    "tests/labapp/studies/test_blinding",
    "tests/labapp/demos/test_import_over_the_api",
    "tests/labapp/studies/browser/",
    "tests/labapp/results/",
    "tests/labapp/studies/design/",
    "tests/training/",
    "tests/generation/",
)


def pytest_configure(config: pytest.Config) -> None:
    """pytest-xdist would put the files with most tests first: those are the quick ones."""
    config.option.loadscopereorder = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: rank(item.nodeid))


def rank(nodeid: str) -> int:
    return next((place for place, prefix in enumerate(LONGEST) if nodeid.startswith(prefix)), len(LONGEST))
