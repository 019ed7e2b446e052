"""Saved states of a draft: kept at every save, told apart in words, brought back, or taken as a new study's start."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from datetime import datetime
from itertools import zip_longest
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import ProtectedError

from labapp.accounts.models import User
from labapp.cells.models import Cell
from labapp.policies.models import Policy
from labapp.studies.design.models import DraftVersion
from labapp.studies.design.plan import MARGIN_KINDS, AnalysisPlan, PlanError
from labapp.studies.design.services import Design, design_update, draft_locked, plan_update
from labapp.studies.models import Study
from labapp.studies.presets import ConditionPreset
from labapp.studies.services import study_create, study_objects

WORDS = {
    "name": "Name",
    "cell": "Cell",
    "question": "Question",
    "policies": "Policies",
    "objects": "Objects",
    "conditions": "Conditions",
    "time_limit_s": "Time limit [s]",
    "seed": "Seed",
}
PLAN_WORDS = {
    "primary": "Primary comparisons",
    "alpha": "Level",
    "adjustment": "Adjustment",
    "test": "Test",
    "stopping": "Stopping rule",
    "looks": "Looks",
    "shape": "Boundary",
    "margins": "Margins",
    "assumed_rates": "Assumed rates",
}


def draft_state(study: Study) -> dict[str, Any]:
    """The whole design as it is now, fit for JSON; what the plan says of an arm is said of its policy's code then."""
    return {
        "name": study.name,
        "cell": study.cell.slug if study.cell else "",
        "question": study.question,
        "policies": dict(study.arms.order_by("code").values_list("code", "policy__name")),
        "objects": study.object_names or sorted(o.name for o in study_objects(study)),
        "conditions": [asdict(preset) for preset in presets_of(study)],
        "time_limit_s": study.time_limit_s,
        "seed": study.seed,
        "plan": _plan(study.analysis_plan).to_json(),
    }


def presets_of(study: Study) -> list[ConditionPreset]:
    return [
        ConditionPreset(
            slug=c.slug,
            label=c.label,
            trials_per_arm=c.trials_per_arm,
            is_shifted=c.is_shifted,
            light=c.light,
            belt_speed=(c.belt_speed_min, c.belt_speed_max),
            uses_novel_objects=c.uses_novel_objects,
        )
        for c in study.conditions.all()
    ]


def version_keep(study: Study, actor: User | None, now: datetime) -> DraftVersion:
    """Remember the draft as it is, under its number."""
    values = {"design": draft_state(study), "actor": actor, "created_at": now}
    kept, _ = DraftVersion.objects.get_or_create(study=study, version=study.draft_version, defaults=values)
    return kept


@transaction.atomic
def draft_save(*, study: Study, design: Design, actor: User, now: datetime, version: int | None = None) -> Study:
    """`design_update`, with the state before and after it kept.

    Raises:
        DraftConflict: somebody saved since ``version``.
        ValidationError: as `design_update`.
    """
    _keep_before(study, version)
    return _kept(design_update(study=study, design=design, version=version), actor, now)


@transaction.atomic
def plan_save(*, study: Study, plan: AnalysisPlan, actor: User, now: datetime, version: int | None = None) -> Study:
    """`plan_update`, with the state before and after it kept.

    Raises:
        DraftConflict: somebody saved since ``version``.
        ValidationError: as `plan_update`.
    """
    _keep_before(study, version)
    return _kept(plan_update(study=study, plan=plan), actor, now)


def _keep_before(study: Study, version: int | None) -> None:
    """The state that a save replaces, where nobody saved it: as it was created."""
    before = draft_locked(study, version)
    version_keep(before, before.created_by, before.created_at)


def _kept(saved: Study, actor: User, now: datetime) -> Study:
    version_keep(saved, actor, now)
    return saved


@transaction.atomic
def draft_bring_back(*, study: Study, version: int, actor: User, now: datetime) -> Study:
    """Make an earlier state the newest one. What was saved in between stays in the list.

    Raises:
        ValidationError: no draft, no such state, or its cell or a policy is gone.
    """
    kept = DraftVersion.objects.filter(study=study, version=version).first()
    if kept is None:
        raise ValidationError(f"This draft has no version {version}.")
    return draft_save(study=study, design=design_of(kept.design, study), actor=actor, now=now)


def design_of(state: Mapping[str, Any], study: Study) -> Design:
    """A kept state as the design of a draft: the plan names arms by the codes that the draft's policies have now.

    Raises:
        ValidationError: the cell or a policy is gone.
    """
    names = list(state["policies"].values())
    policies = list(Policy.objects.filter(name__in=names))
    gone = sorted(set(names) - {policy.name for policy in policies})
    cell = Cell.objects.filter(slug=state["cell"]).first()
    if gone or cell is None:
        raise ValidationError(f"This is gone: {', '.join(gone) or 'the cell ' + state['cell']}.")
    return Design(
        name=state["name"],
        cell=cell,
        question=state["question"],
        time_limit_s=state["time_limit_s"],
        seed=state["seed"],
        policies=policies,
        object_names=state["objects"],
        conditions=[ConditionPreset(**c | {"belt_speed": tuple(c["belt_speed"])}) for c in state["conditions"]],
        plan=_plan(state["plan"]),
        plan_policies=state["policies"],
    )


def _plan(values: Mapping[str, Any]) -> AnalysisPlan:
    try:
        return AnalysisPlan.from_json(values)
    except PlanError:
        return AnalysisPlan()


@transaction.atomic
def study_copy(*, source: Study, name: str, actor: User, now: datetime) -> Study:
    """A new draft with the design of a study in whatever state: same policies behind newly drawn codes, another order.

    Raises:
        ValidationError: the name is taken, or the source was imported and has no policies of this lab.
    """
    if source.cell is None or source.arms.filter(policy=None).exists():
        raise ValidationError("An imported study has no policies of this lab that could be tried again.")
    study = study_create(name=name, cell=source.cell, checkpoints=[], actor=actor, seed=source.seed + 1, conditions=[])
    design = design_of(draft_state(source), study)
    return draft_save(study=study, design=replace(design, name=name, seed=study.seed), actor=actor, now=now)


@transaction.atomic
def draft_delete(*, study: Study) -> str:
    """Delete a draft with its saved states; returns its name.

    Raises:
        ValidationError: no draft, or something rests on it, such as an evaluation in simulation.
    """
    study = draft_locked(study, None)
    try:
        study.delete()
    except ProtectedError as error:
        kinds = sorted({str(row._meta.verbose_name_plural) for row in error.protected_objects})
        raise ValidationError(f"This draft stays: {', '.join(kinds)} of it are kept. Rename it instead.") from error
    return study.name


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """What differs between two states as (what, before, after), in words; arms by their policies."""
    for key, word in WORDS.items():
        if (before := _text(key, old[key])) != (after := _text(key, new[key])):
            yield word, before, after
    for key, word in PLAN_WORDS.items():
        before, after = (_plan_text(key, state["plan"].get(key), state["policies"]) for state in (old, new))
        if before != after:
            yield word, before, after


def _text(key: str, value: Any) -> str:
    if key == "conditions":
        return ", ".join(condition_words(values) for values in value)
    if key == "policies":
        return ", ".join(sorted(value.values()))
    return ", ".join(value) if isinstance(value, list) else _number(value)


def _plan_text(key: str, value: Any, names: Mapping[str, str]) -> str:
    if key == "assumed_rates":
        return ", ".join(sorted(f"{names.get(code, code)} {100 * rate:g}%" for code, rate in (value or {}).items()))
    if key == "margins":
        return ", ".join(margin_words(margin, names) for margin in value or [])
    if key == "primary":
        return ", ".join(" and ".join(names.get(code, code) for code in one.split(":")) for one in value or [])
    return _number(value)


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def margin_words(margin: Mapping[str, Any], names: Mapping[str, str]) -> str:
    first, second = (names.get(margin[key], margin[key]) for key in ("first", "second"))
    return f"{first} {MARGIN_KINDS[margin['kind']]} {second} by {100 * margin['margin']:g} points"


def condition_words(values: Mapping[str, Any]) -> str:
    low, high = values["belt_speed"]
    facts = [str(values["trials_per_arm"]), f"{values['light']} light" if values["light"] != "white" else ""]
    facts += [f"{low:g}–{high:g} m/s", "novel" if values["uses_novel_objects"] else ""]
    return f"{values['label']} ({', '.join(fact for fact in facts if fact)})"


def history(study: Study) -> list[tuple[DraftVersion, list[tuple[str, str, str]]]]:
    """Saved states, newest first, each with what it changed of the one before."""
    kept = list(study.draft_versions.select_related("actor"))
    return [
        (version, list(changes(before.design, version.design)) if before else [])
        for version, before in zip_longest(kept, kept[1:])
    ]
