"""Changing configurations and simulated datasets."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from labapp.accounts.models import User
from labapp.cells.models import World
from labapp.datasets.models import BehaviorSource, GroundingConfiguration, SimulatedDataset
from labapp.datasets.params import GenerateOptions, GenerateParams
from labapp.demos.models import DemonstrationSet
from labapp.demos.services import check_objects
from labapp.folders import StoredEpisodes
from labapp.names import check_name
from labapp.runs.services import run_create

ACCEPTED, BY_OBJECT = "accepted", "objects"


@transaction.atomic
def behavior_ensure(method: str) -> BehaviorSource:
    """The behavior source of a method, with its own row."""
    names = {"adapt": "adapted-demonstrations", "synthesize": "synthesized-motion"}
    found, _ = BehaviorSource.objects.get_or_create(
        method=method, parameters={}, defaults={"name": names.get(method, method)}
    )
    return found


@transaction.atomic
def configuration_ensure(*, world: World, behavior: BehaviorSource) -> GroundingConfiguration:
    """The row of this world and behavior; its name is for people and stands for nothing."""
    found = GroundingConfiguration.objects.filter(world=world, behavior=behavior).first()
    if found is not None:
        return found
    name = configuration_name(world, behavior)
    if GroundingConfiguration.objects.filter(name=name).exists():
        name = f"{name} ({world})"
    if GroundingConfiguration.objects.filter(name=name).exists():
        name = f"{name}, {world.cell}, {behavior}"
    return GroundingConfiguration.objects.create(name=name, world=world, behavior=behavior)


def configuration_name(world: World, behavior: BehaviorSource) -> str:
    grounding = world.grounding.replace(" ", "_")
    return f"{grounding}_world/{'grounded' if behavior.is_grounded else 'ungrounded'}_behavior"


@transaction.atomic
def dataset_generate(
    *,
    actor: User | None,
    name: str,
    world: World,
    behavior: str,
    demonstration_set: DemonstrationSet | None,
    options: GenerateOptions,
) -> SimulatedDataset:
    """A dataset that a run now generates; ``behavior`` is adapt or synthesize.

    Raises:
        ValidationError: a name that cannot be taken, demonstrations that are missing, unready or of another robot.
    """
    name = check_name(SimulatedDataset, name)
    demonstration_set = _check_demonstrations(world, behavior, demonstration_set)
    check_objects(world.cell, options.objects)
    made = SimulatedDataset.objects.create(
        name=name,
        configuration=configuration_ensure(world=world, behavior=behavior_ensure(behavior)),
        demonstration_set=demonstration_set,
        requested=options.n,
        seed=options.seed,
        image_size=options.image_size,
        created_by=actor,
    )
    params = GenerateParams(made.pk, options)
    title = f"Generate {options.n} trajectories: {name}"
    made.run = run_create(kind="datasets.generate", params=asdict(params), title=title, created_by=actor)
    made.save(update_fields=["run"])
    return made


def _check_demonstrations(
    world: World, behavior: str, demonstration_set: DemonstrationSet | None
) -> DemonstrationSet | None:
    if behavior == BehaviorSource.Method.SYNTHESIZE:
        return None
    if demonstration_set is None:
        raise ValidationError({"demonstration_set": "Adapted motion needs demonstrations: choose a set."})
    if demonstration_set.ready_at is None:
        raise ValidationError({"demonstration_set": f"{demonstration_set} is not ready yet."})
    if demonstration_set.embodiment != world.cell.embodiment:
        recorded_on = demonstration_set.embodiment or "another robot"
        raise ValidationError(
            {"demonstration_set": f"Recorded on {recorded_on}; the world is of {world.cell.embodiment}."}
        )
    return demonstration_set


@transaction.atomic
def dataset_complete(
    *, dataset: SimulatedDataset, stored: StoredEpisodes, funnel: dict[str, Any], now: datetime
) -> SimulatedDataset:
    """Fill in what the run brought."""
    dataset.prefix, dataset.sha256 = stored.prefix, stored.sha256
    dataset.trajectories, dataset.frames = len(stored.index.episodes), stored.index.frames
    counts = {**rejections(funnel), ACCEPTED: dataset.trajectories}
    dataset.attempts = sum(counts.values())
    dataset.funnel = {**counts, BY_OBJECT: funnel.get(BY_OBJECT, {})}
    dataset.ready_at = now
    dataset.save()
    return dataset


def rejections(funnel: dict[str, Any]) -> dict[str, int]:
    """Rejected attempts by reason, those that did not occur left out."""
    counts = {name: count for name, count in funnel.items() if isinstance(count, int) and count}
    return {reason: count for reason, count in counts.items() if reason not in (ACCEPTED, "attempts")}
