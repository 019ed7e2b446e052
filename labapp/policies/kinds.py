"""The run that trains a policy; its checkpoints become rows as they arrive in the store."""

from pathlib import Path
from typing import Any

from django.utils import timezone

from labapp import cache, storage
from labapp.policies.models import MixtureComponent, Policy
from labapp.policies.params import TrainParams
from labapp.policies.services import StoredCheckpoint, checkpoint_store, policy_complete
from labapp.runs.kinds import RunKind, out_folder, params_of, register, room_command, row_of
from labapp.runs.models import Run, RunArtifact
from robots.config import to_json

FINAL = "final"
CHECKPOINTS = "checkpoints/step-"


def policy_of(pk: int) -> Policy:
    return row_of(Policy.objects.all(), pk, "policy")


@register
class TrainPolicy(RunKind):
    """A policy on the mixture that its row names."""

    name, label, queue = "policies.train", "Train a policy", "training"

    def prepare(self, run: Run, workdir: Path) -> list[str]:
        params = params_of(TrainParams, run)
        policy = policy_of(params.policy)
        components = [_component(component) for component in policy.components.all()]
        config = to_json(params.options) | {"components": components}
        return room_command("training", "train", workdir, config)

    def environment(self, run: Run) -> dict[str, str]:
        threads = str(params_of(TrainParams, run).options.threads)
        return dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), threads)

    def finish(self, run: Run, workdir: Path, result: dict[str, Any]) -> dict[str, Any]:
        policy = policy_of(params_of(TrainParams, run).policy)
        step = int(result.get("step", 0))
        stored = _final_folder(run, out_folder(workdir) / FINAL, step)
        checkpoint_store(policy=policy, step=step, stored=stored, is_final=True)
        policy_complete(policy=policy, now=timezone.now())
        return {**named(result, policy), "policy": policy.name, "url": policy.get_absolute_url()}


def _component(component: MixtureComponent) -> dict[str, Any]:
    source = component.source
    return {
        "path": str(cache.folder(source.prefix, source.sha256)),
        "weight": component.weight,
        "kind": component.kind,
    }


def named(result: dict[str, Any], policy: Policy) -> dict[str, Any]:
    """The training's result with the sources' names in place of their folders on this worker."""
    sources = {component.source.sha256: str(component.source) for component in policy.components.all()}
    datasets = []
    for dataset in result.get("datasets", []):
        facts = {name: value for name, value in dataset.items() if name != "path"}
        datasets.append({"source": sources.get(Path(dataset["path"]).name, "unknown"), **facts})
    return result | ({"datasets": datasets} if datasets else {})


def _final_folder(run: Run, folder: Path, step: int) -> StoredCheckpoint:
    artifact = run.artifacts.filter(path=FINAL).first()
    found = artifact or storage.put_folder(folder, f"runs/{run.pk}/{FINAL}")
    return StoredCheckpoint(found.prefix, found.sha256, found.size_bytes, metrics_at(run, step))


def checkpoint_note(artifact: RunArtifact) -> None:
    """A checkpoint that a running training has just stored."""
    policy = Policy.objects.filter(run=artifact.run_id).first()
    if policy is None or not artifact.path.startswith(CHECKPOINTS):
        return
    step = int(artifact.path.removeprefix(CHECKPOINTS))
    metrics = metrics_at(artifact.run, step)
    stored = StoredCheckpoint(artifact.prefix, artifact.sha256, artifact.size_bytes, metrics)
    checkpoint_store(policy=policy, step=step, stored=stored)


def metrics_at(run: Run, step: int) -> dict[str, float]:
    """The newest value of each metric up to a step."""
    rows = run.metrics.filter(step__lte=step, value__isnull=False).order_by("name", "-step").distinct("name")
    return {row.name: row.value for row in rows}
