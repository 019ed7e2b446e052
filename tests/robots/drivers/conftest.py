"""One running bench cell for the driver tests."""

from collections.abc import Iterator

import pytest

from robots.drivers.bench import BenchCell


@pytest.fixture(scope="module")
def bench() -> Iterator[BenchCell]:
    with BenchCell.start(seed=11) as cell:
        yield cell
