"""A study with five arms (four grounding configurations, real only) and scored trials, as results pages meet it."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from labapp.accounts.models import User
from labapp.cells.models import World
from labapp.studies.models import Condition, PolicyArm, Study, Trial
from tests.labapp import builders

# (nominal successes of 24, shifted successes of 26); together .86 .82 .74 .58 .52 of 50, the paper's kind of table
SUCCESSES = {"GG": (22, 21), "GU": (21, 20), "UG": (19, 18), "UU": (15, 14), "real-only": (14, 12)}
START = datetime(2026, 9, 30, 9, tzinfo=UTC)


def add_trials(arm: PolicyArm, condition: Condition, successes: int, trials: int, **values) -> None:
    """Confirmed trials without slots; failures are drops after the lift."""
    Trial.objects.bulk_create(
        Trial(
            study=arm.study,
            arm=arm,
            condition=condition,
            **{"status": Trial.Status.CONFIRMED, "latency_ms": 40.0}
            | dict.fromkeys(("started_at", "confirmed_at"), START + timedelta(minutes=i))
            | outcome(i < successes, seconds=3 + 0.1 * i)
            | values,
        )
        for i in range(trials)
    )


def outcome(is_success: bool, seconds: float) -> dict:
    if is_success:
        return {"is_success": True, "furthest_stage": "placed", "duration_s": seconds}
    return {"is_success": False, "furthest_stage": "lift", "failure_mode": "dropped", "duration_s": 12.0}


def build_study(
    slug: str = "pick-and-sort", successes: Mapping[str, tuple[int, int]] = SUCCESSES, **values: object
) -> Study:
    """A locked, blinded study on a simulated cell; its design is made before it is locked."""
    cell = builders.cell()
    worlds = {"G": builders.world(cell, "measured", is_grounded=True), "U": builders.world(cell, "nominal")}
    study = Study.objects.create(name="Pick and sort", slug=slug, cell=cell, is_simulated=True, **values)
    nominal = Condition.objects.create(study=study, slug="nominal", label="Nominal", trials_per_arm=24)
    shifted = Condition.objects.create(
        study=study, slug="red-light", label="Red light", is_shifted=True, order=1, trials_per_arm=26
    )
    arms = [_arm(study, number, name, worlds) for number, name in enumerate(successes)]
    study.status, study.locked_at, study.design_sha256 = Study.Status.LOCKED, START, "0" * 64
    study.save()
    for arm, (good_nominal, good_shifted) in zip(arms, successes.values(), strict=True):
        add_trials(arm, nominal, good_nominal, 24)
        add_trials(arm, shifted, good_shifted, 26)
    return study


def _arm(study: Study, number: int, name: str, worlds: Mapping[str, World]) -> PolicyArm:
    configuration = None
    if name != "real-only":
        configuration = builders.configuration(worlds[name[0]], "adapt" if name[1] == "G" else "synthesize")
    checkpoint = builders.checkpoint(f"{study.slug}-{name.lower()}", configuration)
    return PolicyArm.objects.create(
        study=study, code=f"K{70 - 7 * number}", policy=checkpoint.policy, checkpoint=checkpoint, label=f"policy {name}"
    )


@pytest.fixture
def study(db) -> Study:
    return build_study()


@pytest.fixture
def unblind(pi: User) -> Callable[[Study], Study]:
    def do(study: Study) -> Study:
        study.unblinded_at, study.unblinded_by = timezone.now(), pi
        study.save()
        return study

    return do
