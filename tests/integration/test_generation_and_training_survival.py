"""A worker killed in the middle of a real generation and a real training: lost, retried, complete, nothing twice."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from labapp import storage
from labapp.cells.models import World
from labapp.cells.services import bench_cell_ensure
from labapp.datasets.params import GenerateOptions
from labapp.datasets.services import dataset_generate
from labapp.demos.services import demonstration_set_complete, demonstrations_record
from labapp.folders import episodes_store
from labapp.policies.params import TrainOptions
from labapp.policies.services import Component, policy_train
from labapp.runs.models import Run
from labapp.runs.services import run_retry, runs_mark_lost
from robots.cell.bench import BENCH_CELL
from robots.cell.world import nominal_world
from robots.episodes import EpisodesReader
from tests.labapp import made

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(400)]
ACTIVE = ("queued", "running")
N = 24


def status_of(run: Run) -> str:
    return Run.objects.values_list("status", flat=True).get(pk=run.pk)


def kill_retry_and_complete(run: Run, queue: str, is_midway: Any, start_worker: Any, eventually: Any) -> None:
    """SIGKILL the worker once the command is midway; the run is lost, a second worker completes the retry."""
    first = start_worker(queue)
    eventually(lambda: is_midway() or status_of(run) not in ACTIVE, 150)
    assert status_of(run) == "running", Run.objects.get(pk=run.pk).error
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    eventually(lambda: runs_mark_lost(now=timezone.now()), 4 * settings.RUN_LEASE_SECONDS)
    assert status_of(run) == "lost"
    run_retry(run_id=run.pk, by=None)
    start_worker(queue)
    eventually(lambda: status_of(run) not in ACTIVE, 200)
    run.refresh_from_db()
    assert run.status == "succeeded", run.error


def test_a_generation_survives_its_worker_without_a_duplicate_episode(
    researcher, start_worker, eventually, tmp_path: Path
):
    world = World.objects.create(
        cell=bench_cell_ensure(), name="nominal", parameters=nominal_parameters(), sha256="0" * 64
    )
    options = GenerateOptions(n=N, image_size=32, camera_fps=5.0)
    dataset = dataset_generate(
        actor=researcher, name="made", world=world, behavior="synthesize", demonstration_set=None, options=options
    )
    out = made.out_of(dataset.run)
    kill_retry_and_complete(
        dataset.run, "generation", lambda: any((out / "attempts").glob("*")), start_worker, eventually
    )
    dataset.refresh_from_db()
    assert (dataset.trajectories, dataset.funnel["accepted"]) == (N, N)
    storage.get_folder(dataset.prefix, tmp_path / "episodes")
    rows = EpisodesReader(tmp_path / "episodes").episodes
    assert [row.index for row in rows] == list(range(N))
    assert len({str(row.extra["initial_state"]) for row in rows}) == N


def test_a_training_survives_its_worker_with_one_value_a_step(researcher, start_worker, eventually):
    shown = demonstrations_record(actor=researcher, name="shown", cell=bench_cell_ensure(), options=made.SMALL)
    folder = made.episodes_folder(made.out_of(shown.run) / "episodes", n=4, views=("head",), rows=30)
    shown = demonstration_set_complete(
        demonstration_set=shown, stored=episodes_store(shown.run, folder), report={}, now=timezone.now()
    )
    policy = policy_train(
        actor=researcher,
        name="learned",
        components=[Component(shown, 1.0)],
        options=TrainOptions(minutes=None, steps=80, image_size=32),
    )
    kill_retry_and_complete(policy.run, "training", policy.run.metrics.exists, start_worker, eventually)
    policy.refresh_from_db()
    assert policy.ready_at is not None
    assert policy.checkpoints.filter(is_final=True).count() == 1
    steps = list(policy.run.metrics.filter(name="loss").values_list("step", flat=True))
    assert len(steps) == len(set(steps))
    assert max(steps) == 80


def nominal_parameters() -> dict[str, Any]:
    return json.loads(nominal_world(BENCH_CELL).to_json())
