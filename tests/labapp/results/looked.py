"""A locked study with a stopping rule in its plan, and blocks of it run with chosen outcomes."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from frontend.dashboards.content import LooksCard
from frontend.dashboards.filters import Filters
from labapp.accounts.models import User
from labapp.results.queries import study_content
from labapp.studies import services
from labapp.studies.models import PolicyArm, Study, Trial
from labapp.studies.presets import ConditionPreset
from tests.labapp import builders

START = datetime(2026, 11, 30, 9, tzinfo=UTC)
NAMES = {"GG": (True, "adapt"), "GU": (True, "synthesize"), "UG": (False, "adapt"), "UU": (False, "synthesize")}
CLEAR = {"GG": 1.0, "GU": 1.0, "UG": 0.0, "UU": 0.0, "real": 0.5}  # world decides everything
BLOCKS = 20
LOOKS = {"stopping": "group-sequential", "looks": 4, "adjustment": "holm"}
ANYTIME = {"stopping": "anytime", "adjustment": "holm"}


def looked_study(actor: User, plan: Mapping[str, Any], primary: Sequence[str] = (), blocks: int = BLOCKS) -> Study:
    """Locked; `primary` names arms like "GG:UU" where the plan wants codes."""
    cell = builders.cell()
    worlds = {True: builders.world(cell, "measured", is_grounded=True), False: builders.world(cell, "nominal")}
    checkpoints = [
        builders.checkpoint(name, builders.configuration(worlds[is_grounded], method))
        for name, (is_grounded, method) in NAMES.items()
    ]
    checkpoints.append(builders.checkpoint("real"))
    conditions = (
        ConditionPreset("nominal", "Nominal", blocks - blocks // 4, is_shifted=False),
        ConditionPreset("red-light", "Red light", blocks // 4, light="red"),
    )
    study = services.study_create(
        name="Looked at", cell=cell, checkpoints=checkpoints, actor=actor, seed=5, conditions=conditions
    )
    codes = dict(study.arms.values_list("label", "code"))
    keys = [":".join(codes.get(part, part) for part in key.split(":")) for key in primary]
    study.analysis_plan = dict(plan) | {"primary": keys}
    study.save()
    return services.study_lock(study=study, actor=actor, now=START)


def run_blocks(study: Study, first: int, last: int, rates: Mapping[str, float] = CLEAR) -> None:
    """Confirm a trial of every open slot of these blocks; an arm's successes are spread evenly over its blocks."""
    slots = study.slots.filter(block__range=(first, last), arm__withdrawn_at=None, rescheduled_as=None, trials=None)
    Trial.objects.bulk_create(
        Trial(
            study=study,
            slot=slot,
            arm=slot.arm,
            condition=slot.condition,
            status=Trial.Status.CONFIRMED,
            started_at=moment(slot.block),
            confirmed_at=moment(slot.block),
            is_success=(is_success := succeeds(rates[slot.arm.label], slot.block)),
            furthest_stage="placed" if is_success else "lift",
            failure_mode="" if is_success else "dropped",
        )
        for slot in slots.select_related("arm", "condition")
    )


def succeeds(rate: float, block: int) -> bool:
    """The block-th of evenly spread successes: whether block * rate passes a whole number in this block."""
    return int(block * rate + 1e-9) > int((block - 1) * rate + 1e-9)


def moment(block: int) -> datetime:
    """When a block is run."""
    return START + timedelta(minutes=10 * block)


def arm(study: Study, name: str) -> PolicyArm:
    return study.arms.get(label=name)


def card(study: Study, user: User, **filters: Any) -> LooksCard:
    """The card of looks that a person sees."""
    found = study_content(study, user, Filters(**filters)).looks
    assert found is not None
    return found
