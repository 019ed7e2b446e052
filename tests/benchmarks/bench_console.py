"""The operator console's state under twenty operators, against an empty Django view on the same server.

Twenty threads ask in turn for both, so that what slows the machine slows both; the figures are 95th percentiles.
"""

import json
import os
import statistics
import sys
import threading
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.apart import measure_apart, scratch_database

OPERATORS = 20
LOADS = {"as in a session": (4.0, 8), "four times as often": (1.0, 15)}  # seconds between an operator's asks, rounds
BAR_MS = 100.0
EMPTY, STATE = "/empty/", "/api/studies/bench/console/"
SETTINGS = "tests.benchmarks.settings"


def run() -> list[dict[str, Any]]:
    """Measure in a process of its own."""
    return measure_apart(
        "tests.benchmarks.bench_console", "console state, p95", BAR_MS, DJANGO_SETTINGS_MODULE=SETTINGS
    )


def measure(folder: Path) -> list[dict[str, Any]]:
    from tests.integration.web_server import web_server

    with scratch_database(folder):
        sessions = _operators()
        with web_server(dict(os.environ), folder / "web.log") as (port, _):
            base = f"http://127.0.0.1:{port}"
            return [_row(load, _ask(base, sessions, *pace)) for load, pace in LOADS.items()]


def _row(load: str, taken: dict[str, list[float]]) -> dict[str, Any]:
    state, empty = (1e3 * _p95(taken[path]) for path in (STATE, EMPTY))
    detail = f"ms; an empty view {empty:.1f} ms: {state / empty:.1f} times, {OPERATORS} operators, one server process"
    name = f"console state, p95, {load}"
    return {"name": name, "value": round(state, 1), "bar": BAR_MS, "ok": state < BAR_MS, "detail": detail}


def _operators() -> list[str]:
    """A locked study of 250 slots, and the session keys of twenty operators."""
    from django.test import Client
    from django.utils import timezone

    from labapp.accounts.models import Role
    from labapp.studies.services import study_create, study_lock
    from tests.labapp import builders

    checkpoints = [builders.checkpoint(f"policy-{i}") for i in range(5)]
    study = study_create(name="Bench", cell=builders.cell(), checkpoints=checkpoints, actor=None, seed=0)
    study_lock(study=study, actor=None, now=timezone.now())
    keys = []
    for _ in range(OPERATORS):
        client = Client()
        client.force_login(builders.user(Role.OPERATOR))
        keys.append(client.cookies["sessionid"].value)
    return keys


def _ask(base: str, sessions: list[str], think_s: float, rounds: int) -> dict[str, list[float]]:
    import httpx

    taken: dict[str, list[float]] = {EMPTY: [], STATE: []}

    def operate(key: str, delay_s: float) -> None:
        time.sleep(delay_s)
        with httpx.Client(base_url=base, cookies={"sessionid": key}, timeout=30) as client:
            for round_ in range(rounds + 1):
                for path in (EMPTY, STATE):
                    start = time.perf_counter()
                    client.get(path).raise_for_status()
                    if round_:  # the first one connects
                        taken[path].append(time.perf_counter() - start)
                    time.sleep(think_s / 2)

    threads = [threading.Thread(target=operate, args=(key, think_s * i / OPERATORS)) for i, key in enumerate(sessions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return taken


def _p95(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]


if __name__ == "__main__" and sys.argv[1:2] == ["--measure"]:
    print(json.dumps(measure(Path(sys.argv[2]))))
