"""The run that generates a simulated dataset."""

import json
from pathlib import Path
from typing import Any

from django.utils import timezone

from labapp import cache
from labapp.datasets.models import SimulatedDataset
from labapp.datasets.params import GenerateParams
from labapp.datasets.services import dataset_complete
from labapp.folders import episodes_store
from labapp.runs.kinds import RunKind, out_folder, params_of, register, room_command, row_of
from labapp.runs.models import Run
from robots.config import to_json


def dataset_of(pk: int) -> SimulatedDataset:
    rows = SimulatedDataset.objects.select_related(
        "configuration__world", "configuration__behavior", "demonstration_set"
    )
    return row_of(rows, pk, "dataset")


@register
class GenerateDataset(RunKind):
    """Trajectories in a simulated world, only the successful ones kept."""

    name, label, queue = "datasets.generate", "Generate a dataset", "generation"

    def prepare(self, run: Run, workdir: Path) -> list[str]:
        params = params_of(GenerateParams, run)
        dataset = dataset_of(params.dataset)
        world = workdir / "world.json"
        world.write_text(json.dumps(dataset.configuration.world.parameters))
        source = dataset.demonstration_set
        config = to_json(params.options) | {
            "world": str(world),
            "behavior": dataset.configuration.behavior.method,
            "demonstrations": str(cache.folder(source.prefix, source.sha256)) if source else None,
        }
        return room_command("generation", "generate", workdir, config)

    def finish(self, run: Run, workdir: Path, result: dict[str, Any]) -> dict[str, Any]:
        dataset = dataset_of(params_of(GenerateParams, run).dataset)
        out = out_folder(workdir)
        stored = episodes_store(run, out / "episodes")
        funnel = json.loads((out / "funnel.json").read_text())
        dataset_complete(dataset=dataset, stored=stored, funnel=funnel, now=timezone.now())
        return {
            "dataset": dataset.name,
            "trajectories": dataset.trajectories,
            "attempts": dataset.attempts,
            "url": dataset.get_absolute_url(),
        }
