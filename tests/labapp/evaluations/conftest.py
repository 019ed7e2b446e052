"""A blinded study on a bench cell with trials, and evaluations as their runs leave them."""

from typing import Any

import pytest
from django.utils import timezone

from labapp.cells.models import World
from labapp.evaluations.models import Evaluation
from labapp.evaluations.params import EvaluateOptions
from labapp.evaluations.services import evaluation_complete, study_evaluate
from labapp.studies.models import Study
from tests.labapp import builders
from tests.labapp.studies.conftest import Lab, make_lab


@pytest.fixture
def lab(db: Any) -> Lab:
    return make_lab()


@pytest.fixture
def world(lab: Lab) -> World:
    builders.world(lab.study.cell, "nominal")
    return builders.world(lab.study.cell, "measured", is_grounded=True)


@pytest.fixture
def evaluation(lab: Lab, world: World) -> Evaluation:
    return finished(lab.study, world)


def finished(study: Study, world: World, successes: tuple[int, ...] = (5, 2), **options: Any) -> Evaluation:
    """An evaluation whose arms, in the order of their codes, succeeded so often; failures missed the pick."""
    made = study_evaluate(actor=None, study=study, world=world, options=EvaluateOptions(**options))
    return complete(made, successes)


def complete(made: Evaluation, successes: tuple[int, ...]) -> Evaluation:
    entries = sorted(made.policies.select_related("arm"), key=lambda entry: entry.arm.code)
    wanted = [condition for condition in made.conditions.all() for _ in range(condition.rollouts)]
    rows = [
        rollout(entry.key, condition.slug, number, is_success=number < good)
        for entry, good in zip(entries, successes, strict=True)
        for number, condition in enumerate(wanted)
    ]
    return evaluation_complete(evaluation=made, rows=rows, now=timezone.now())


def rollout(policy: str, condition: str, number: int, *, is_success: bool, invalid: str = "") -> dict[str, Any]:
    """One row of the command's result."""
    ended = {"success": True, "furthest_stage": "placed", "failure_mode": ""}
    missed = {"success": False, "furthest_stage": "contact", "failure_mode": "missed_pick"}
    start = {"object": "box", "bin": "left", "belt_speed": 0.1, "seed": number}
    place = {"policy": policy, "condition": condition, "number": number}
    return place | start | (ended if is_success else missed) | {"time_s": 5.0, "invalid": invalid}
