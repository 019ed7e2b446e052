"""The bench cell: a simulated cell with hidden true parameters behind the driver protocols, in its own process."""

from robots.drivers.bench.process import BenchCell

__all__ = ["BenchCell"]
