"""The operator console under twenty operators, with a million trials in the database, against an empty Django view.

Asked for in turn on the same server, so that what slows the machine slows both; the figures are 95th percentiles.
"""

import json
import os
import statistics
import sys
from pathlib import Path
from typing import Any

from tests.benchmarks.apart import measure_apart, scratch_database
from tests.benchmarks.console_operators import CONFIRM, EMPTY, OPERATORS, START, STATE, ask, operators

LOADS = {"as in a session": (4.0, 8), "four times as often": (1.0, 20)}  # seconds between an operator's asks, rounds
BAR_MS = 100.0
SETTINGS = "tests.benchmarks.settings"


def run() -> list[dict[str, Any]]:
    """Measure in a process of its own."""
    return measure_apart("tests.benchmarks.bench_console", "console, p95", BAR_MS, DJANGO_SETTINGS_MODULE=SETTINGS)


def measure(folder: Path) -> list[dict[str, Any]]:
    from tests.integration.web_server import web_server

    with scratch_database(folder):
        people = operators()
        with web_server(dict(os.environ), folder / "web.log") as (port, _):
            taken = {load: ask(f"http://127.0.0.1:{port}", people, *pace) for load, pace in LOADS.items()}
    return [_row(kind, load, taken[load]) for load in LOADS for kind in (STATE, START, CONFIRM)]


def _row(kind: str, load: str, taken: dict[str, list[float]]) -> dict[str, Any]:
    value, empty = (1e3 * _p95(taken[what]) for what in (kind, EMPTY))
    detail = f"ms; an empty view {empty:.1f} ms: {value / empty:.1f} times, {OPERATORS} operators, one server process"
    return {
        "name": f"console {kind}, p95, {load}",
        "value": round(value, 1),
        "bar": BAR_MS,
        "ok": value < BAR_MS,
        "detail": detail,
    }


def _p95(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]


if __name__ == "__main__" and sys.argv[1:2] == ["--measure"]:
    print(json.dumps(measure(Path(sys.argv[2]))))
