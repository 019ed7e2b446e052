"""The chain of the study's runs: order, resumption, failure. The whole loop itself is in tests/integration."""

import pytest
from django.utils import timezone

from labapp.datasets.models import SimulatedDataset
from labapp.demos.models import DemonstrationSet
from labapp.policies.models import Policy
from labapp.reproduction import jobs
from labapp.reproduction.chain import Chain
from labapp.reproduction.jobs import Job, JobFailed, carry_out
from labapp.reproduction.presets import PRESETS
from labapp.reproduction.study import automation_user, evaluation_job, slots_planned, study_ensure
from labapp.runs.models import Run
from labapp.studies.models import Study
from tests.labapp import builders

pytestmark = pytest.mark.django_db


@pytest.fixture
def chain() -> Chain:
    return Chain(PRESETS["smoke"], automation_user())


def finish(run: Run, status: str, **values) -> None:
    Run.objects.filter(pk=run.pk).update(status=status, finished_at=timezone.now(), **values)


def make_ready(chain: Chain) -> None:
    """Everything as if its runs had succeeded."""
    stored = {"prefix": "x", "sha256": builders.sha("x"), "ready_at": timezone.now()}
    DemonstrationSet.objects.create(
        name=chain.name("demonstrations"), source="bench", embodiment=chain.cell.embodiment, cell=chain.cell, **stored
    )
    for name in chain.policy_names():
        builders.checkpoint(name)
    Policy.objects.update(ready_at=timezone.now())


def test_only_what_needs_nothing_starts_first(chain):
    for job in chain.jobs:
        job.advance()
    assert set(Run.objects.values_list("kind", flat=True)) == {"demos.record", "cells.measure", "cells.nominal"}


def test_advancing_again_launches_nothing_twice(chain):
    for _ in range(3):
        for job in chain.jobs:
            job.advance()
    assert Run.objects.count() == 3
    assert DemonstrationSet.objects.count() == 1


def test_a_second_chain_finds_the_rows_of_the_first(chain):
    for job in chain.jobs:
        job.advance()
    again = Chain(PRESETS["smoke"], automation_user())
    for job in again.jobs:
        job.advance()
    assert Run.objects.count() == 3


def test_datasets_start_when_their_world_and_demonstrations_are_there(chain):
    make_ready(chain)
    builders.world(chain.cell, chain.name("ungrounded-world"))
    for job in chain.jobs:
        job.advance()
    configurations = {d.configuration.name for d in SimulatedDataset.objects.all()}
    assert configurations == {
        "ungrounded_world/grounded_behavior",
        "ungrounded_world/ungrounded_behavior",
    }


def test_a_failed_run_stops_the_chain_and_says_why(chain):
    for job in chain.jobs:
        job.advance()
    finish(chain.demonstrations.find_run(), Run.Status.FAILED, error="The disk is full.")
    with pytest.raises(JobFailed, match=r"demonstrations on the bench cell.*The disk is full"):
        chain.demonstrations.advance()


def test_a_lost_run_is_retried(chain):
    chain.demonstrations.advance()
    finish(chain.demonstrations.find_run(), Run.Status.LOST)
    chain.demonstrations.advance()
    assert chain.demonstrations.find_run().status == Run.Status.QUEUED


def test_starting_again_retries_what_failed(chain, monkeypatch):
    monkeypatch.setattr(jobs, "POLL_S", 0)
    chain.demonstrations.advance()
    run = chain.demonstrations.find_run()
    finish(run, Run.Status.FAILED)

    def complete(_: object) -> None:
        run.refresh_from_db()
        assert run.status == Run.Status.QUEUED
        DemonstrationSet.objects.update(prefix="x", sha256="y", ready_at=timezone.now())

    carry_out([chain.demonstrations], complete)
    assert chain.demonstrations.is_done


def test_a_job_waits_for_what_it_needs():
    launched = []

    def made(name: str, needs: tuple = ()) -> Job:
        return Job(name, lambda: None, lambda: name in launched, lambda: launched.append(name), needs)

    first = made("first")
    second = made("second", (first,))
    carry_out([second, first], lambda jobs: None)
    assert launched == ["first", "second"]


def test_the_study_has_one_blinded_arm_per_policy_and_the_papers_fifty_trials(chain):
    make_ready(chain)
    study = study_ensure(chain)
    assert study.status == Study.Status.LOCKED
    assert study.arms.count() == 5
    assert study.slots.count() == 250
    assert study.is_simulated
    assert study_ensure(chain) == study


def test_the_part_that_is_run_holds_whole_blocks(chain):
    make_ready(chain)
    study = study_ensure(chain)
    assert slots_planned(study, 24) == 24 * 5
    assert slots_planned(study, None) == 250


def test_after_the_trials_the_arms_are_evaluated_in_the_measured_world(chain):
    make_ready(chain)
    study = study_ensure(chain)
    world = builders.world(chain.cell, chain.name("grounded-world"), is_grounded=True)
    slot = study.slots.first()
    at = {"started_at": timezone.now(), "confirmed_at": timezone.now()}
    study.trials.create(
        slot=slot,
        arm=slot.arm,
        condition=slot.condition,
        status="confirmed",
        is_success=True,
        operator=chain.actor,
        **at,
    )
    job = evaluation_job(chain, study)
    for _ in range(2):
        job.advance()
    made = study.evaluations.get()
    assert (made.world, made.policies.count(), job.is_done) == (world, 5, False)
    (condition,) = made.conditions.all()
    assert [start["seed"] for start in condition.starts] == [slot.seed]
