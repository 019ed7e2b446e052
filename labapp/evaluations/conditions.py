"""The conditions of an evaluation: a study's, started as its own trials start, or the paper's."""

from typing import Any

from django.db.models import Count

from labapp.cells.models import Cell
from labapp.evaluations.models import EvaluatedCondition
from labapp.evaluations.params import EvaluateOptions
from labapp.studies.models import Condition, Study, Trial
from labapp.studies.presets import PAPER_CONDITIONS
from labapp.studies.services import condition_plans

Start = dict[str, Any]


def study_conditions(study: Study, options: EvaluateOptions) -> list[EvaluatedCondition]:
    """Unsaved rows for the conditions of a study that have rollouts under these options."""
    objects = {plan.slug: list(plan.objects) for plan in condition_plans(study)}
    starts, run = _starts(study), _blocks_run(study)
    rows = []
    for condition in study.conditions.order_by("order", "slug"):
        amounts = {"run": run.get(condition.pk, 0), "planned": condition.trials_per_arm, "each": options.rollouts}
        rollouts = amounts[options.amount]
        if rollouts and (names := objects[condition.slug]):
            rows.append(_row(condition, names, rollouts, starts.get(condition.pk, [])[:rollouts]))
    return rows


def paper_conditions(cell: Cell, options: EvaluateOptions) -> list[EvaluatedCondition]:
    """Unsaved rows for the paper's conditions, for a checkpoint that is in no study."""
    objects = list(cell.cell_objects.all())
    rows = []
    for order, preset in enumerate(PAPER_CONDITIONS):
        names = [o.name for o in objects if o.is_novel == preset.uses_novel_objects]
        rollouts = options.rollouts if options.amount == "each" else preset.trials_per_arm
        low, high = preset.belt_speed
        facts = {"slug": preset.slug, "label": preset.label, "order": order, "light": preset.light}
        belt = {"belt_speed_min": low, "belt_speed_max": high}
        rows.append(EvaluatedCondition(object_names=names, rollouts=rollouts, **facts, **belt))
    return [row for row in rows if row.object_names]


def _row(condition: Condition, names: list[str], rollouts: int, starts: list[Start]) -> EvaluatedCondition:
    copied = ("slug", "label", "order", "light", "belt_speed_min", "belt_speed_max")
    facts = {name: getattr(condition, name) for name in copied}
    return EvaluatedCondition(condition=condition, object_names=names, rollouts=rollouts, starts=starts, **facts)


def _starts(study: Study) -> dict[int, list[Start]]:
    """Starts of the schedule's blocks by condition, in running order; every arm of a block starts alike."""
    found: dict[int, list[Start]] = {}
    slots = study.slots.filter(reschedules=None).select_related("object")
    for slot in slots.order_by("block", "position").distinct("block"):
        start = {"object": slot.object.name, "belt_speed": slot.belt_speed, "bin": slot.bin, "seed": slot.seed}
        found.setdefault(slot.condition_id, []).append(start)
    return found


def _blocks_run(study: Study) -> dict[int, int]:
    """Blocks of each condition of which a trial is confirmed."""
    run = study.slots.filter(trials__status=Trial.Status.CONFIRMED).order_by()
    return dict(run.values_list("condition_id").annotate(Count("block", distinct=True)))
