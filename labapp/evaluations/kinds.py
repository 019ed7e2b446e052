"""The run that rolls policies out in a simulated world."""

import json
from pathlib import Path
from typing import Any

from django.utils import timezone

from labapp import cache
from labapp.evaluations.models import EvaluatedCondition, EvaluatedPolicy, Evaluation
from labapp.evaluations.params import EvaluateParams
from labapp.evaluations.recordings import folders_store
from labapp.evaluations.services import evaluation_complete
from labapp.runs.kinds import RunError, RunKind, out_folder, params_of, register, room_command
from labapp.runs.models import Run


def evaluation_of(run: Run) -> Evaluation:
    pk = params_of(EvaluateParams, run).evaluation
    found = Evaluation.objects.select_related("world", "study").filter(pk=pk).first()
    if found is None:
        raise RunError("The evaluation was removed after this run was launched.", "evaluation")
    return found


@register
class EvaluateInSimulation(RunKind):
    """Every policy of an evaluation from the same starts, one row a rollout."""

    name, label, queue = "evaluations.evaluate", "Evaluate in simulation", "generation"

    def prepare(self, run: Run, workdir: Path) -> list[str]:
        evaluation = evaluation_of(run)
        world = workdir / "world.json"
        world.write_text(json.dumps(evaluation.world.parameters))
        config = {
            "world": str(world),
            "policies": [_policy(entry) for entry in evaluation.policies.select_related("checkpoint")],
            "conditions": [_condition(condition) for condition in evaluation.conditions.all()],
            "seed": evaluation.seed,
            "time_limit_s": evaluation.time_limit_s,
            "image_size": evaluation.image_size,
            "video": evaluation.video,
        }
        return room_command("generation", "evaluate", workdir, config)

    def finish(self, run: Run, workdir: Path, result: dict[str, Any]) -> dict[str, Any]:
        evaluation = evaluation_of(run)
        out = out_folder(workdir)
        rows = json.loads((out / "result.json").read_text())["rollouts"]
        folders_store(run=run, evaluation=evaluation, out=out, paths={row["episodes"] for row in rows})
        evaluation_complete(evaluation=evaluation, rows=rows, now=timezone.now())
        totals = {name: result[name] for name in ("rollouts", "invalid", "seconds")}
        return {**totals, "url": evaluation.get_absolute_url()}


def _policy(entry: EvaluatedPolicy) -> dict[str, Any]:
    checkpoint = entry.checkpoint
    return {"name": entry.key, "checkpoint": str(cache.folder(checkpoint.prefix, checkpoint.sha256))}


def _condition(condition: EvaluatedCondition) -> dict[str, Any]:
    return {
        "name": condition.slug,
        "rollouts": condition.rollouts,
        "light": condition.light,
        "belt_speed": [condition.belt_speed_min, condition.belt_speed_max],
        "objects": condition.object_names,
        "starts": condition.starts,
    }
