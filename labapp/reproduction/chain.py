"""The paper's study as jobs: demonstrations and worlds, four simulated datasets, five policies."""

from collections.abc import Sequence
from functools import partial

from labapp.accounts.models import User
from labapp.cells.models import Cell, World
from labapp.cells.services import bench_cell_ensure, world_measure, world_nominal
from labapp.datasets.models import SimulatedDataset
from labapp.datasets.params import GenerateOptions
from labapp.datasets.services import dataset_generate
from labapp.demos.models import DemonstrationSet
from labapp.demos.params import EpisodeOptions
from labapp.demos.services import demonstrations_record
from labapp.policies.models import Policy
from labapp.policies.params import TrainOptions
from labapp.policies.services import Component, policy_train
from labapp.reproduction.jobs import Job
from labapp.reproduction.presets import StudyPreset
from labapp.runs.models import Run

WORLDS = {"grounded": ("cells.measure", world_measure), "ungrounded": ("cells.nominal", world_nominal)}
BEHAVIORS = {"grounded": "adapt", "ungrounded": "synthesize"}
REAL_ONLY = "real-only"


class Chain:
    """Names, rows and jobs of one reproduction. Rows are found by name, so it resumes where it was left."""

    def __init__(self, preset: StudyPreset, actor: User) -> None:
        self.preset, self.actor = preset, actor
        self.cell: Cell = bench_cell_ensure()
        self.demonstrations = self._demonstrations_job()
        self.worlds = {grounding: self._world_job(grounding) for grounding in WORLDS}
        self.datasets = {(w, b): self._dataset_job(w, b) for w in WORLDS for b in BEHAVIORS}
        self.policies = [self._real_only_job(), *(self._policy_job(*key) for key in self.datasets)]

    @property
    def jobs(self) -> list[Job]:
        return [self.demonstrations, *self.worlds.values(), *self.datasets.values(), *self.policies]

    def policy_names(self) -> list[str]:
        return [self.name(REAL_ONLY), *(self.name(configuration_slug(w, b)) for w, b in self.datasets)]

    def name(self, what: str) -> str:
        return f"{self.preset.name}-{what}"

    def demonstration_set(self) -> DemonstrationSet:
        return DemonstrationSet.objects.get(name=self.name("demonstrations"))

    def world(self, grounding: str) -> World:
        return World.objects.filter(cell=self.cell, name=self.name(f"{grounding}-world")).latest("version")

    def _demonstrations_job(self) -> Job:
        p, name = self.preset, self.name("demonstrations")
        options = EpisodeOptions(
            n=p.demonstrations, seed=p.seed, belt_speed=p.belt_speed, image_size=p.image_size, camera_fps=p.camera_fps
        )
        return Job(
            title=f"{p.demonstrations} demonstrations on the bench cell",
            launch=lambda: demonstrations_record(actor=self.actor, name=name, cell=self.cell, options=options),
            **_by_row(DemonstrationSet, name),
        )

    def _world_job(self, grounding: str) -> Job:
        kind, launch = WORLDS[grounding]
        name = self.name(f"{grounding}-world")
        return Job(
            title=f"{grounding} world",
            find_run=lambda: Run.objects.filter(kind=kind, params__name=name, params__cell=self.cell.pk).first(),
            is_ready=lambda: World.objects.filter(cell=self.cell, name=name).exists(),
            launch=partial(launch, actor=self.actor, cell=self.cell, name=name),
        )

    def _dataset_job(self, world: str, behavior: str) -> Job:
        p, method = self.preset, BEHAVIORS[behavior]
        name = self.name(configuration_slug(world, behavior))
        options = GenerateOptions(
            n=p.trajectories, seed=p.seed + 1, belt_speed=p.belt_speed, image_size=p.image_size, camera_fps=p.camera_fps
        )

        def launch() -> SimulatedDataset:
            source = self.demonstration_set() if method == "adapt" else None
            return dataset_generate(
                actor=self.actor,
                name=name,
                world=self.world(world),
                behavior=method,
                demonstration_set=source,
                options=options,
            )

        needs = [self.worlds[world]] + ([self.demonstrations] if method == "adapt" else [])
        title = f"{p.trajectories} trajectories, {world} world, {behavior} behavior"
        return Job(title=title, launch=launch, needs=needs, **_by_row(SimulatedDataset, name))

    def _real_only_job(self) -> Job:
        def components() -> list[Component]:
            return [Component(self.demonstration_set(), 1.0)]

        return self._training(REAL_ONLY, components, [self.demonstrations])

    def _policy_job(self, world: str, behavior: str) -> Job:
        what, share = configuration_slug(world, behavior), self.preset.real_weight

        def components() -> list[Component]:
            simulated = SimulatedDataset.objects.get(name=self.name(what))
            return [Component(self.demonstration_set(), share), Component(simulated, 1 - share)]

        return self._training(what, components, [self.demonstrations, self.datasets[world, behavior]])

    def _training(self, what: str, components, needs: Sequence[Job]) -> Job:
        p, name = self.preset, self.name(what)
        options = TrainOptions(minutes=None, steps=p.training_steps, image_size=p.image_size, seed=p.seed)
        return Job(
            title=f"policy {what.replace('-', ' ')}",
            launch=lambda: policy_train(actor=self.actor, name=name, components=components(), options=options),
            needs=needs,
            **_by_row(Policy, name),
        )


def configuration_slug(world: str, behavior: str) -> str:
    return f"{world}-world-{behavior}-behavior"


def _by_row(model: type[DemonstrationSet | SimulatedDataset | Policy], name: str) -> dict:
    """How a job that makes one named row is found again."""
    rows = model.objects.filter(name=name)

    def find_run() -> Run | None:
        row = rows.select_related("run").first()
        return row.run if row else None

    return {"find_run": find_run, "is_ready": lambda: rows.filter(ready_at__isnull=False).exists()}
