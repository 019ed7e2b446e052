"""Finished things as the runs would leave them: episodes in the store, rows with lineage."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from django.utils import timezone

from labapp.accounts.models import User
from labapp.cells.models import World
from labapp.cells.services import bench_cell_ensure, world_store
from labapp.datasets.models import SimulatedDataset
from labapp.datasets.params import GenerateOptions
from labapp.datasets.services import dataset_complete, dataset_generate
from labapp.demos.models import DemonstrationSet
from labapp.demos.params import EpisodeOptions
from labapp.demos.services import demonstration_set_complete, demonstrations_record
from labapp.folders import episodes_store
from labapp.policies.models import Policy
from labapp.policies.params import TrainOptions
from labapp.policies.services import Component, StoredCheckpoint, checkpoint_store, policy_complete, policy_train
from labapp.runs.models import Run
from robots.cell.bench import BENCH_CELL
from robots.episodes import EpisodesWriter, Feature

JOINTS = ("right_arm_joint1", "right_hand_thumb_S1", "left_arm_joint1")
NOMINAL: dict[str, Any] = {
    "visual": {"cameras": {}, "light_color": [1.0, 1.0, 1.0], "light_intensity": 1.0, "grounded": False},
    "layout": {"belt_offset": [0.0, 0.0, 0.0], "grounded": False},
    "dynamics": {"delay": 0.02, "kp_scale": [1.0] * 7, "grounded": False},
    "cell": BENCH_CELL.name,
}
SMALL = EpisodeOptions(n=2, image_size=32)


def grounded_parameters() -> dict[str, Any]:
    """Measured values in all three parts; the nominal world names no camera."""
    measured = json.loads(json.dumps(NOMINAL))
    measured["visual"]["cameras"] = {"head": {"focal_scale": 1.01, "offset": [0.01, 0.0, 0.0]}}
    measured["layout"]["belt_offset"] = [-0.02, 0.0, 0.015]
    measured["dynamics"]["delay"] = 0.0386
    for part in ("visual", "layout", "dynamics"):
        measured[part]["grounded"] = True
    return measured


def episodes_folder(root: Path, *, n: int = 2, views: tuple[str, ...] = ("head",), rows: int = 12) -> Path:
    """A small v3.0 folder of the bench embodiment."""
    vector = Feature.vector(JOINTS, units="rad")
    features = {"observation.state": vector, "action": vector}
    features |= {f"observation.images.{view}": Feature.video(32, 32) for view in views}
    with EpisodesWriter.create(root, fps=50, robot_type=BENCH_CELL.name, features=features) as writer:
        for number in range(n):
            _episode(writer, number, views, rows)
    return root


def _episode(writer: EpisodesWriter, number: int, views: tuple[str, ...], rows: int) -> None:
    name = BENCH_CELL.demonstrated_objects[number % 4]
    with writer.episode(task=f"pick up the {name} and place it in the left bin") as episode:
        for row in range(rows):
            values = np.full(len(JOINTS), 0.1 * row + number, np.float32)
            frame = np.full((32, 32, 3), 8 * row, np.uint8)
            images = {f"observation.images.{view}": frame for view in views}
            episode.add({"observation.state": values, "action": values + 0.01, **images})
        episode.commit(
            extra={"object": name, "belt_speed": 0.1, "outcome": "success", "source_demonstration": f"episode {number}"}
        )


def out_of(run: Run) -> Path:
    return Path(settings.RUNS_DIR) / str(run.pk) / "out"


def bench_set(actor: User, name: str = "shown") -> DemonstrationSet:
    """A recorded set, in the store and ready."""
    made = demonstrations_record(actor=actor, name=name, cell=bench_cell_ensure(), options=SMALL)
    stored = episodes_store(made.run, episodes_folder(out_of(made.run) / "episodes"))
    return demonstration_set_complete(demonstration_set=made, stored=stored, report={}, now=timezone.now())


def world(actor: User, *, is_grounded: bool = True) -> World:
    cell = bench_cell_ensure()
    run = Run.objects.create(kind="cells.measure", title="measure", created_by=actor)
    parameters = grounded_parameters() if is_grounded else NOMINAL
    name = "grounded" if is_grounded else "nominal"
    residuals = {"layout": {"belt_spread_mm": 0.4}}
    return world_store(run=run, cell=cell, name=name, parameters=parameters, residuals=residuals, method="test")


def dataset(actor: User, shown: DemonstrationSet, name: str = "simulated", **options: Any) -> SimulatedDataset:
    made = dataset_generate(
        actor=actor,
        name=name,
        world=world(actor),
        behavior="adapt",
        demonstration_set=shown,
        options=GenerateOptions(n=3, image_size=32, **options),
    )
    stored = episodes_store(made.run, episodes_folder(out_of(made.run) / "episodes", n=3))
    funnel = {"attempts": 5, "accepted": 3, "dropped": 2, "nan": 0, "objects": {"box": {"attempts": 5, "accepted": 3}}}
    return dataset_complete(dataset=made, stored=stored, funnel=funnel, now=timezone.now())


def policy(actor: User, *sources: DemonstrationSet | SimulatedDataset, name: str = "learned") -> Policy:
    components = [Component(source, 1.0) for source in sources]
    made = policy_train(actor=actor, name=name, components=components, options=TrainOptions(minutes=1.0))
    checkpoint_store(
        policy=made,
        step=10,
        stored=StoredCheckpoint(f"runs/{made.run_id}/final", "a" * 64, 1000, {"loss": 0.5}),
        is_final=True,
    )
    return policy_complete(policy=made, now=timezone.now())
