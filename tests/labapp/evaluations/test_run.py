"""The whole run through the database: an untrained checkpoint, served and rolled out by the real command."""

import json
import threading
from pathlib import Path

import numpy as np
import psutil
import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from labapp import storage
from labapp.cells.models import World
from labapp.cells.services import bench_cell_ensure
from labapp.evaluations.models import SimulatedRollout
from labapp.evaluations.params import EvaluateOptions
from labapp.evaluations.recordings import table_of, videos_of
from labapp.evaluations.services import checkpoint_evaluate
from labapp.policies.models import Checkpoint, Policy
from labapp.runs.executor import run_execute
from labapp.runs.services import run_cancel, run_retry
from labapp.studies.series import trial_series
from robots.cell.bench import BENCH_CELL
from robots.cell.world import nominal_world
from tests.labapp import builders
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def untrained(folder: Path) -> Path:
    """A checkpoint of the bench robot whose network nobody trained: it trembles with its first joint."""
    from training.checkpoint import Facts, save_checkpoint
    from training.data.actions import ActionCodec
    from training.data.normalisation import Affine
    from training.model.policy import Policy as Network
    from training.model.policy import PolicyShape

    joints = len(BENCH_CELL.joint_names)
    shape = PolicyShape(("head",), (BENCH_CELL.name,), 16, joints, 1, width=32, depth=1)
    affine = Affine(np.zeros(1), np.full(1, 0.01))
    codec = ActionCodec(joints, (0,), (0,), BENCH_CELL.home_state * (np.arange(joints) > 0), (), affine)
    state = Affine(np.zeros(joints), np.ones(joints))
    facts = Facts(shape, codec, state, 0, {}, [], None, {})
    save_checkpoint(folder, Network(shape).state_dict(), facts)
    return folder


@pytest.fixture
def checkpoint(tmp_path: Path) -> Checkpoint:
    stored = storage.put_folder(untrained(tmp_path / "untrained"), "checkpoints/untrained")
    policy = Policy.objects.create(name="untrained", preset="tiny", embodiment=BENCH_CELL.name)
    facts = {"prefix": stored.prefix, "sha256": stored.sha256, "size_bytes": stored.size_bytes}
    return Checkpoint.objects.create(policy=policy, step=0, is_final=True, **facts)


def bench_world() -> World:
    world = builders.world(bench_cell_ensure(), "nominal")
    world.parameters = json.loads(nominal_world(BENCH_CELL).to_json())
    world.save()
    return world


def test_a_launched_evaluation_is_carried_out_and_leaves_its_rollouts(checkpoint) -> None:
    options = EvaluateOptions(amount="each", rollouts=1, image_size=16)
    made = checkpoint_evaluate(actor=None, checkpoint=checkpoint, world=bench_world(), options=options)
    made.time_limit_s = 0.3
    made.save()
    assert run_execute(made.run_id) == "succeeded", made.run.events.last()
    made.refresh_from_db()
    rows = SimulatedRollout.objects.filter(policy__evaluation=made)
    assert made.ready_at
    assert set(rows.values_list("condition__slug", flat=True)) == set(made.conditions.values_list("slug", flat=True))
    assert {(r.is_success, r.failure_mode, r.invalid_reason) for r in rows} == {(False, "missed_pick", "")}
    assert (made.run.progress_done, made.run.progress_unit) == (5, "rollouts")
    assert made.run.result["url"] == made.get_absolute_url()
    assert {row.episode for row in rows} == set(range(5))
    seen = videos_of(rows.first())
    assert sorted(video.camera for video in seen) == sorted(BENCH_CELL.policy_views)
    assert storage.get_bytes(seen[0].media.object_key)[4:8] == b"ftyp"
    assert trial_series(table_of(rows.first()))["duration_s"] == 0.3
    assert "/" not in json.dumps(made.run.result).replace(made.get_absolute_url(), ""), "no path of the worker"


@pytest.mark.slow
def test_a_cancelled_evaluation_ends_with_its_server_and_goes_on_when_it_is_tried_again(checkpoint) -> None:
    options = EvaluateOptions(amount="each", rollouts=7, image_size=16)
    made = checkpoint_evaluate(actor=None, checkpoint=checkpoint, world=bench_world(), options=options)
    made.time_limit_s = 3.0
    made.save()
    thread = threading.Thread(target=carry_out, args=(made.run_id,))
    thread.start()
    blocks = Path(settings.RUNS_DIR) / str(made.run_id) / "out" / "blocks"
    first = blocks / f"{made.policies.get().key}-0000.json"
    assert wait_until(first.exists, 60)
    run_cancel(run_id=made.run_id, by=None, now=timezone.now())
    thread.join(60)
    made.run.refresh_from_db()
    assert made.run.status == "cancelled"
    assert not SimulatedRollout.objects.exists()
    assert wait_until(lambda: not servers_of(checkpoint), 10), "the policy server is left"
    written = first.stat().st_mtime_ns
    run_retry(run_id=made.run_id, by=None)
    assert run_execute(made.run_id) == "succeeded"
    assert first.stat().st_mtime_ns == written
    assert SimulatedRollout.objects.count() == 35


def carry_out(run_id: int) -> None:
    run_execute(run_id)
    connection.close()


def servers_of(checkpoint: Checkpoint) -> list[int]:
    """Processes that serve the checkpoint."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        line = " ".join(process.info["cmdline"] or [])
        if "training serve" in line and checkpoint.sha256 in line:
            found.append(process.pid)
    return found
