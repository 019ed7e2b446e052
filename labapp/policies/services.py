"""Changing policies and checkpoints."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from django.core.exceptions import ValidationError
from django.db import transaction

from labapp.accounts.models import User
from labapp.datasets.models import GroundingConfiguration, SimulatedDataset
from labapp.demos.models import DemonstrationSet
from labapp.names import check_name
from labapp.policies.models import Checkpoint, MixtureComponent, Policy
from labapp.policies.params import TrainOptions, TrainParams
from labapp.runs.services import run_create


@dataclass(frozen=True)
class Component:
    """One source of the mixture and its weight."""

    source: DemonstrationSet | SimulatedDataset
    weight: float

    @property
    def embodiment(self) -> str:
        if isinstance(self.source, DemonstrationSet):
            return self.source.embodiment
        return self.source.configuration.world.cell.embodiment


@dataclass(frozen=True)
class StoredCheckpoint:
    """A checkpoint folder in the store, and what the training measured up to it."""

    prefix: str
    sha256: str
    size_bytes: int
    metrics: dict[str, float]


@transaction.atomic
def policy_train(*, actor: User | None, name: str, components: Sequence[Component], options: TrainOptions) -> Policy:
    """A policy that a run now trains.

    Raises:
        ValidationError: a name that cannot be taken, or a mixture that cannot be trained on, keyed ``components``.
    """
    name = check_name(Policy, name)
    check_components(components)
    policy = Policy.objects.create(
        name=name,
        preset=options.preset,
        embodiment=components[0].embodiment,
        configuration=_configuration(components),
        created_by=actor,
    )
    MixtureComponent.objects.bulk_create(_component_row(policy, component) for component in components)
    policy.parameters = asdict(options)
    params = asdict(TrainParams(policy.pk, options))
    policy.run = run_create(kind="policies.train", params=params, title=f"Train {name}", created_by=actor)
    policy.save(update_fields=["parameters", "run"])
    return policy


def check_components(components: Sequence[Component]) -> None:
    """Whether one policy can learn from these together."""
    if not components:
        raise ValidationError({"components": "Give at least one source a weight above 0."})
    for component in components:
        if not 0 < component.weight < 1e6:
            raise ValidationError({"components": f"{component.source}: the weight must be above 0."})
        if component.source.ready_at is None:
            raise ValidationError({"components": f"{component.source} is not ready yet."})
    if len({component.source for component in components}) != len(components):
        raise ValidationError({"components": "Each source can be named only once."})
    embodiments = {component.embodiment: component.source for component in components}
    if len(embodiments) > 1:
        named = ", ".join(
            f"{source} is of {embodiment or 'an unknown robot'}" for embodiment, source in embodiments.items()
        )
        raise ValidationError({"components": f"One policy drives one embodiment: {named}."})
    _configuration(components)


def _configuration(components: Sequence[Component]) -> GroundingConfiguration | None:
    """The one configuration of the simulated part; None for a policy trained on demonstrations alone."""
    found = {c.source.configuration for c in components if isinstance(c.source, SimulatedDataset)}
    if len(found) > 1:
        names = " and ".join(sorted(str(configuration) for configuration in found))
        raise ValidationError(
            {"components": f"The simulated data are of {names}: trials of such a policy would count for neither."}
        )
    return found.pop() if found else None


def _component_row(policy: Policy, component: Component) -> MixtureComponent:
    is_real = isinstance(component.source, DemonstrationSet)
    return MixtureComponent(
        policy=policy,
        demonstration_set=component.source if is_real else None,
        simulated_dataset=None if is_real else component.source,
        weight=component.weight,
    )


@transaction.atomic
def checkpoint_store(*, policy: Policy, step: int, stored: StoredCheckpoint, is_final: bool = False) -> Checkpoint:
    """A row for a checkpoint in the store; the same step again replaces it."""
    if is_final:
        policy.checkpoints.filter(is_final=True).exclude(step=step).update(is_final=False)
    facts = asdict(stored) | {"is_final": is_final}
    row, _ = Checkpoint.objects.update_or_create(policy=policy, step=step, defaults=facts)
    return row


@transaction.atomic
def policy_complete(*, policy: Policy, now: datetime) -> Policy:
    policy.ready_at = now
    policy.save(update_fields=["ready_at"])
    return policy
