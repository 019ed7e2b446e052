"""Launching evaluations, and storing what their runs bring."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from labapp.accounts.models import User
from labapp.cells.models import World
from labapp.evaluations.conditions import paper_conditions, study_conditions
from labapp.evaluations.models import EvaluatedCondition, EvaluatedPolicy, Evaluation, SimulatedRollout
from labapp.evaluations.params import EvaluateOptions, EvaluateParams
from labapp.evaluations.recordings import recordings_remove
from labapp.policies.models import Checkpoint
from labapp.runs.services import run_create
from labapp.studies.models import Study
from robots.cell.bench import BENCH_CELL

ROLLOUT_FACTS = ("number", "bin", "belt_speed", "seed", "furthest_stage", "failure_mode", "time_s")


@transaction.atomic
def study_evaluate(*, actor: User | None, study: Study, world: World, options: EvaluateOptions) -> Evaluation:
    """All arms of a study, from the starts of its own trials as far as its schedule gives them.

    Raises:
        ValidationError: no arm has a checkpoint, no rollout is asked for, or the world is of another robot.
    """
    arms = [arm for arm in study.arms.select_related("checkpoint__policy") if arm.checkpoint and not arm.withdrawn_at]
    if not arms:
        raise ValidationError({"study": "No arm of this study has a checkpoint to evaluate."})
    conditions = study_conditions(study, options)
    if not conditions:
        raise ValidationError({"amount": "No trial has been run yet: choose as many as the study plans, or a number."})
    evaluation = Evaluation(study=study, world=world, time_limit_s=study.time_limit_s)
    entries = [EvaluatedPolicy(checkpoint=arm.checkpoint, arm=arm) for arm in arms]
    return _launch(evaluation, entries, conditions, f"Evaluate {study} in simulation", actor, options)


@transaction.atomic
def checkpoint_evaluate(
    *, actor: User | None, checkpoint: Checkpoint, world: World, options: EvaluateOptions
) -> Evaluation:
    """One checkpoint under the paper's conditions; raises as `study_evaluate`."""
    conditions = paper_conditions(world.cell, options)
    if not conditions:
        raise ValidationError({"world": f"{world.cell} has no objects to pick."})
    entries = [EvaluatedPolicy(checkpoint=checkpoint)]
    title = f"Evaluate {checkpoint} in simulation"
    return _launch(Evaluation(world=world), entries, conditions, title, actor, options)


def _launch(
    evaluation: Evaluation,
    entries: Sequence[EvaluatedPolicy],
    conditions: Sequence[EvaluatedCondition],
    title: str,
    actor: User | None,
    options: EvaluateOptions,
) -> Evaluation:
    _check_robot(evaluation.world, [entry.checkpoint for entry in entries])
    _check_conditions("study" if evaluation.study else "world", conditions)
    evaluation.seed, evaluation.image_size, evaluation.video = options.seed, options.image_size, options.video
    evaluation.created_by = actor
    evaluation.save()
    for row in (*entries, *conditions):
        row.evaluation = evaluation
    EvaluatedPolicy.objects.bulk_create(entries)
    EvaluatedCondition.objects.bulk_create(conditions)
    params = asdict(EvaluateParams(evaluation.pk))
    evaluation.run = run_create(kind="evaluations.evaluate", params=params, title=title[:200], created_by=actor)
    evaluation.save(update_fields=["run"])
    return evaluation


def _check_robot(world: World, checkpoints: Sequence[Checkpoint]) -> None:
    robot = world.cell.embodiment
    if robot != BENCH_CELL.name:
        raise ValidationError({"world": f"Only {BENCH_CELL.name} can be simulated here; this world is of {robot}."})
    if any(checkpoint.policy.embodiment not in ("", robot) for checkpoint in checkpoints):
        raise ValidationError({"world": f"A policy was made for another robot than the world's, {robot}."})


def _check_conditions(field: str, conditions: Sequence[EvaluatedCondition]) -> None:
    """Raises ValidationError where the simulated cell has no such object, or no belt that fast."""
    known, fastest = {thing.name for thing in BENCH_CELL.objects}, BENCH_CELL.belt.max_speed
    strange = sorted({name for condition in conditions for name in condition.object_names} - known)
    if strange:
        raise ValidationError({field: f"Only {', '.join(sorted(known))} are simulated, not {', '.join(strange)}."})
    for condition in conditions:
        if condition.belt_speed_max > fastest:
            said = f"“{condition.label}” has the belt at up to {condition.belt_speed_max:g} m/s"
            raise ValidationError({field: f"{said}: simulated are 0 to {fastest:g} m/s."})


@transaction.atomic
def evaluation_complete(*, evaluation: Evaluation, rows: Sequence[dict[str, Any]], now: datetime) -> Evaluation:
    """Store the rollouts of a finished run, once however often it is told; folders of episodes are there already."""
    policies = {policy.key: policy for policy in evaluation.policies.all()}
    conditions = {condition.slug: condition for condition in evaluation.conditions.all()}
    folders = {folder.path: folder for folder in evaluation.folders.all()}
    SimulatedRollout.objects.filter(policy__evaluation=evaluation).delete()
    SimulatedRollout.objects.bulk_create(
        SimulatedRollout(
            policy=policies[row["policy"]],
            condition=conditions[row["condition"]],
            object_name=row["object"],
            is_success=row["success"],
            invalid_reason=row["invalid"],
            folder=folders.get(row.get("episodes", "")),
            episode=row.get("episode"),
            **{name: row[name] for name in ROLLOUT_FACTS},
        )
        for row in rows
    )
    evaluation.ready_at = now
    evaluation.save(update_fields=["ready_at"])
    return evaluation


@transaction.atomic
def evaluation_remove(evaluation: Evaluation) -> None:
    """Take back an evaluation that never finished, and what it recorded; its run and log stay.

    Raises:
        ValidationError: it is finished, or still under way.
    """
    if evaluation.ready_at is not None:
        raise ValidationError("This evaluation is finished and stays: results pages may show it.")
    if evaluation.run is not None and evaluation.run.is_active:
        raise ValidationError("This evaluation is still under way; cancel its run first.")
    recordings_remove(run=evaluation.run)
    evaluation.delete()
