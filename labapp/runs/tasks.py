"""The one task: carry out a run. A worker that is asked to stop gives its run back to the queue."""

import threading
from typing import Any

from celery.signals import worker_shutting_down

from labapp.celery import app
from labapp.runs.executor import run_execute

worker_stops = threading.Event()


@worker_shutting_down.connect
def note_shutdown(**kwargs: Any) -> None:
    worker_stops.set()


@app.task(name="runs.execute", acks_late=True, ignore_result=True)
def execute(run_id: int) -> str:
    return run_execute(run_id, stop=worker_stops)
