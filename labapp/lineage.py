"""What a row rests on, and what rests on it: foreign keys only, never a name taken apart."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db.models import Model, Q, QuerySet

from labapp.cells.models import Calibration, World
from labapp.cells.selectors import worlds_of
from labapp.datasets.models import GroundingConfiguration, SimulatedDataset
from labapp.demos.models import DemonstrationSet
from labapp.evaluations.models import Evaluation
from labapp.policies.models import Policy
from labapp.studies.models import Study, Trial

SHOWN = 12


@dataclass(frozen=True)
class Group:
    """Rows of one kind; ``count`` may exceed the rows that are shown."""

    title: str
    rows: list[Model] = field(default_factory=list)
    count: int = 0


@dataclass(frozen=True)
class Lineage:
    rests_on: list[Group]
    carries: list[Group]


def lineage_of(row: Model) -> Lineage:
    return Lineage([g for g in _up(row) if g.count], [g for g in _down(row) if g.count])


def trials_resting_on(row: Model) -> QuerySet[Trial]:
    """Trials whose policy was trained on anything that rests on the row: one query."""
    return Trial.objects.filter(arm__policy__in=_policies(row))


def _worlds(row: Model) -> QuerySet[World]:
    if isinstance(row, Calibration):
        return worlds_of(row)
    return World.objects.filter(pk=row.pk) if isinstance(row, World) else World.objects.none()


def _configurations(row: Model) -> QuerySet[GroundingConfiguration]:
    if isinstance(row, GroundingConfiguration):
        return GroundingConfiguration.objects.filter(pk=row.pk)
    return GroundingConfiguration.objects.filter(world__in=_worlds(row))


def _datasets(row: Model) -> QuerySet[SimulatedDataset]:
    if isinstance(row, SimulatedDataset):
        return SimulatedDataset.objects.filter(pk=row.pk)
    if isinstance(row, DemonstrationSet):
        return row.simulated_datasets.all()
    return SimulatedDataset.objects.filter(configuration__in=_configurations(row))


def _policies(row: Model) -> QuerySet[Policy]:
    if isinstance(row, Policy):
        return Policy.objects.filter(pk=row.pk)
    rests = Q(components__simulated_dataset__in=_datasets(row))
    if isinstance(row, DemonstrationSet):
        rests |= Q(components__demonstration_set=row)
    return Policy.objects.filter(rests).distinct()


def _evaluations(row: Model) -> QuerySet[Evaluation]:
    tried = Q(policies__checkpoint__policy__in=_policies(row))
    return Evaluation.objects.filter(tried | Q(world__in=_worlds(row))).distinct()


def _down(row: Model) -> Iterable[Group]:
    """Kinds below the row's own, in the order of the loop."""
    queries: list[tuple[str, type[Model], QuerySet[Model]]] = [
        ("Worlds", World, _worlds(row)),
        ("Grounding configurations", GroundingConfiguration, _configurations(row)),
        ("Simulated datasets", SimulatedDataset, _datasets(row)),
        ("Policies", Policy, _policies(row)),
        ("Evaluations in simulation", Evaluation, _evaluations(row)),
        ("Studies", Study, Study.objects.filter(arms__policy__in=_policies(row)).distinct()),
    ]
    for title, model, query in queries:
        if not isinstance(row, model):
            yield _group(title, query)
    yield Group("Trials", [], trials_resting_on(row).count())


def _up(row: Model) -> Iterable[Group]:
    if isinstance(row, Policy):
        components = row.components.select_related("demonstration_set", "simulated_dataset__configuration__world")
        sources = [component.source for component in components]
        yield _listed("Demonstrations", [s for s in sources if isinstance(s, DemonstrationSet)])
        datasets = [s for s in sources if isinstance(s, SimulatedDataset)]
        yield _listed("Simulated datasets", datasets)
        yield from _above_datasets(datasets)
    elif isinstance(row, SimulatedDataset):
        yield from _above_datasets([row])
    elif isinstance(row, GroundingConfiguration):
        yield _listed("Worlds", [row.world])
        yield _listed("Calibrations", _calibrations([row.world]))
    elif isinstance(row, World):
        yield _listed("Calibrations", _calibrations([row]))


def _above_datasets(datasets: list[SimulatedDataset]) -> Iterable[Group]:
    worlds = [dataset.configuration.world for dataset in datasets]
    yield _listed("Demonstrations adapted", [d.demonstration_set for d in datasets if d.demonstration_set])
    yield _listed("Grounding configurations", [d.configuration for d in datasets])
    yield _listed("Worlds", worlds)
    yield _listed("Calibrations", _calibrations(worlds))


def _calibrations(worlds: Iterable[World]) -> list[Calibration]:
    return [c for w in worlds for part in Calibration.Part.values if (c := getattr(w, f"{part}_calibration"))]


def _group(title: str, query: QuerySet[Model]) -> Group:
    return Group(title, list(query[:SHOWN]), query.count())


def _listed(title: str, rows: Iterable[Model]) -> Group:
    unique = list(dict.fromkeys(rows))
    return Group(title, unique, len(unique))
