"""Twenty operators for the console's benchmark: each has a rig, a study half done, a session and a connection.

They are threads of one process that waits nearly all the time (7 % of one core at the larger load, where the server
takes 40 %), so what they measure is the server.
"""

import threading
import time
from collections import defaultdict
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import uuid4

OPERATORS = 20
DONE = 60  # trials already scored in each operator's study
ACTION_EVERY = 4  # rounds between two trials of one operator
OTHERS = 1_000_000  # trials of an earlier study in the same table
EMPTY, STATE, START, CONFIRM = "empty view", "state", "start", "confirm"
OUTCOME = {"is_success": False, "furthest_stage": "carry", "failure_mode": "dropped", "note": "slipped at the rim"}


@dataclass(frozen=True)
class Operator:
    study: str
    cookies: dict[str, str]


def operators() -> list[Operator]:
    """The rows: a million trials of a study that is over, and twenty locked studies of 250 slots, each on its cell."""
    from tests.benchmarks.bench_results import fill_study
    from tests.labapp import builders

    fill_study(OTHERS)
    checkpoints = [builders.checkpoint(f"policy-{i}") for i in range(5)]
    return [_operator(f"Bench {i}", checkpoints) for i in range(OPERATORS)]


def _operator(name: str, checkpoints: list[Any]) -> Operator:
    from django.test import Client
    from django.utils import timezone

    from labapp.cells.models import Agent
    from labapp.studies.services import study_create, study_lock
    from tests.labapp import builders

    user, now = builders.user("operator"), timezone.now()
    study = study_create(name=name, cell=builders.cell(), checkpoints=checkpoints, actor=None, seed=0)
    study = study_lock(study=study, actor=None, now=now)
    heard = now + timedelta(hours=1)  # nobody sends heartbeats here
    Agent.objects.create(cell=study.cell, name="agent", token_sha256=name, connected_at=now, last_seen_at=heard)
    _score(study, user, now - timedelta(hours=1))
    client = Client()
    client.force_login(user)
    client.get("/login/")
    return Operator(study.slug, {key: morsel.value for key, morsel in client.cookies.items()})


def _score(study: Any, user: Any, at: Any) -> None:
    from labapp.studies.models import Trial

    rows = [
        Trial(study=study, slot=slot, arm_id=slot.arm_id, condition_id=slot.condition_id, operator=user, started_at=at)
        for slot in study.slots.order_by("block", "position")[:DONE]
    ]
    for row in rows:
        row.status, row.is_success, row.furthest_stage, row.confirmed_at = "confirmed", True, "placed", at
    Trial.objects.bulk_create(rows)


def ask(base: str, people: list[Operator], think_s: float, rounds: int) -> dict[str, list[float]]:
    """Seconds of each answer by kind; an operator asks for the empty view and the state in turn, and runs trials."""
    taken: dict[str, list[float]] = defaultdict(list)
    threads = [
        threading.Thread(target=_operate, args=(base, person, i, think_s, rounds, taken))
        for i, person in enumerate(people)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if missing := {EMPTY, STATE, START, CONFIRM} - set(taken):
        raise RuntimeError(f"Nobody measured: {', '.join(sorted(missing))}.")
    return taken


def _operate(
    base: str, person: Operator, number: int, think_s: float, rounds: int, taken: dict[str, list[float]]
) -> None:
    import httpx

    time.sleep(think_s * number / OPERATORS)
    headers = {"X-CSRFToken": person.cookies["csrftoken"]}
    with httpx.Client(base_url=base, cookies=person.cookies, headers=headers, timeout=30) as client:
        for round_ in range(rounds + 1):
            times: dict[str, float] = {}
            times[EMPTY] = _timed(lambda: client.get("/empty/"))[0]
            time.sleep(think_s / 2)
            times[STATE] = _timed(lambda: client.get(f"/api/studies/{person.study}/console/"))[0]
            if round_ and (round_ + number) % ACTION_EVERY == 0:
                times |= _trial(client, person.study, think_s / 4)
                time.sleep(think_s / 4)
            else:
                time.sleep(think_s / 2)
            if round_:  # the first one connects
                for kind, seconds in times.items():
                    taken[kind].append(seconds)


def _trial(client: Any, study: str, pause_s: float) -> dict[str, float]:
    start_s, answer = _timed(lambda: client.post(f"/api/studies/{study}/trials/", json={"id": str(uuid4())}))
    time.sleep(pause_s)
    trial = answer.json()
    body = OUTCOME | {"version": trial["version"]}
    confirm_s, _ = _timed(lambda: client.post(f"/api/trials/{trial['id']}/confirm/", json=body))
    return {START: start_s, CONFIRM: confirm_s}


def _timed(send: Any) -> tuple[float, Any]:
    begun = time.perf_counter()
    answer = send()
    answer.raise_for_status()
    return time.perf_counter() - begun, answer
