"""`BenchCell`: starts a bench process, hands out its clients, and stops it."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType

from robots.cell.bench import BENCH_CELL
from robots.cell.description import CellDescription
from robots.drivers.bench.client import BenchDrivers, OperatorHands, Referee
from robots.drivers.protocols import DriverError


class BenchCell:
    """A running bench process. Use as a context manager; it also ends when this process does.

    `drivers`, `operator` and `referee` are three separate connections: code that holds the drivers cannot reach the
    truth. `cell` is the public description.
    """

    def __init__(self, process: subprocess.Popen[str], folder: "tempfile.TemporaryDirectory[str]") -> None:
        self._process, self._folder = process, folder
        self.cell: CellDescription = BENCH_CELL
        path = Path(folder.name)
        self.drivers = BenchDrivers(path / "drivers.sock", self.cell)
        self.operator = OperatorHands(path / "operator.sock")
        self.referee = Referee(path / "referee.sock")

    @classmethod
    def start(cls, *, seed: int, pace: str = "fast", left_arm: str = "fixed", is_nominal: bool = False) -> "BenchCell":
        """Spawn `python -m robots.drivers.bench` and connect.

        Args:
            seed: draws the hidden parameters. pace: `fast` steps at every tick, `realtime` runs at 50 Hz.
            is_nominal: a cell exactly as described, for tests.

        Raises:
            DriverError: the process did not come up.
        """
        folder = tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True)
        command = [sys.executable, "-m", "robots.drivers.bench", folder.name, "--seed", str(seed), "--pace", pace,
                   "--left-arm", left_arm, "--exit-with-parent", *(["--nominal"] if is_nominal else [])]  # fmt: skip
        root = str(Path(__file__).resolve().parents[3])
        paths = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": paths}
        )
        if process.stdout is None or process.stdout.readline().strip() != "ready":
            process.kill()
            process.wait()
            folder.cleanup()
            raise DriverError(f"the bench cell did not start: {' '.join(command)}")
        return cls(process, folder)

    def stop(self) -> None:
        """Close the connections and end the process."""
        for client in (self.drivers, self.operator, self.referee):
            client.close()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()

    def __enter__(self) -> "BenchCell":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
