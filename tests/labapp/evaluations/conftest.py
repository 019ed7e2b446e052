"""A blinded study on a bench cell with trials, and evaluations as their runs leave them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.utils import timezone

from labapp.cells.models import World
from labapp.evaluations.models import Evaluation
from labapp.evaluations.params import EvaluateOptions
from labapp.evaluations.recordings import folders_store
from labapp.evaluations.services import evaluation_complete, study_evaluate
from labapp.studies.models import Study
from robots.episodes import EpisodesWriter, Feature
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


@pytest.fixture
def watched(lab: Lab, world: World, tmp_path: Path) -> Evaluation:
    """An evaluation whose first two rollouts of each policy were recorded."""
    made = study_evaluate(actor=None, study=lab.study, world=world, options=EvaluateOptions())
    return recorded(made, (5, 2), tmp_path / "out")


def finished(study: Study, world: World, successes: tuple[int, ...] = (5, 2), **options: Any) -> Evaluation:
    """An evaluation whose arms, in the order of their codes, succeeded so often; failures missed the pick."""
    made = study_evaluate(actor=None, study=study, world=world, options=EvaluateOptions(**options))
    return complete(made, successes)


def complete(made: Evaluation, successes: tuple[int, ...]) -> Evaluation:
    return evaluation_complete(evaluation=made, rows=rows_of(made, successes), now=timezone.now())


def rows_of(made: Evaluation, successes: tuple[int, ...]) -> list[dict[str, Any]]:
    entries = sorted(made.policies.select_related("arm"), key=lambda entry: entry.arm.code)
    wanted = [condition for condition in made.conditions.all() for _ in range(condition.rollouts)]
    return [
        rollout(entry.key, condition.slug, number, is_success=number < good)
        for entry, good in zip(entries, successes, strict=True)
        for number, condition in enumerate(wanted)
    ]


def recorded(made: Evaluation, successes: tuple[int, ...], out: Path) -> Evaluation:
    """A finished evaluation whose first rollout of each policy was recorded with one view, the second without."""
    rows = rows_of(made, successes)
    for entry in made.policies.all():
        path = f"episodes/{entry.key}-0000"
        own = [row for row in rows if row["policy"] == entry.key]
        for number, row in enumerate(own):
            row |= {"episodes": path, "episode": number if number < 2 else None}
        write_episodes(out / path, with_video=(True, False))
    folders_store(run=made.run, evaluation=made, out=out, paths={row["episodes"] for row in rows})
    return evaluation_complete(evaluation=made, rows=rows, now=timezone.now())


def write_episodes(folder: Path, with_video: tuple[bool, ...]) -> None:
    """An episodes folder of ten rows each, as the command leaves it."""
    vector = Feature.vector(("joint_1", "joint_2"), units="rad")
    features = {"observation.state": vector, "action": vector, "observation.images.head": Feature.video(16, 16)}
    facts = {"outcome": "success", "stages": {"approach": 0.0, "contact": 0.1}}
    ramp = np.linspace(0, 1, 10)[:, None] * np.ones(2)
    with EpisodesWriter.create(folder, fps=50, robot_type="bench", features=features) as writer:
        for is_seen in with_video:
            with writer.episode(task="pick it up") as episode:
                columns = {"observation.state": ramp, "action": ramp + 0.1}
                if is_seen:
                    columns["observation.images.head"] = np.full((10, 16, 16, 3), 90, np.uint8)
                else:
                    episode.miss_video("observation.images.head")
                episode.add_rows(columns)
                episode.commit(extra=facts)


def rollout(policy: str, condition: str, number: int, *, is_success: bool, invalid: str = "") -> dict[str, Any]:
    """One row of the command's result."""
    ended = {"success": True, "furthest_stage": "placed", "failure_mode": ""}
    missed = {"success": False, "furthest_stage": "contact", "failure_mode": "missed_pick"}
    start = {"object": "box", "bin": "left", "belt_speed": 0.1, "seed": number}
    place = {"policy": policy, "condition": condition, "number": number}
    return place | start | (ended if is_success else missed) | {"time_s": 5.0, "invalid": invalid}
