"""A study with five arms (four grounding configurations, real only) and scored trials, as results pages meet it."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from labapp.accounts.models import User
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


def build_study(slug: str = "pick-and-sort", successes: Mapping[str, tuple[int, int]] = SUCCESSES) -> Study:
    """A locked, blinded study on a simulated cell."""
    cell = builders.cell()
    worlds = {"G": builders.world(cell, "measured", is_grounded=True), "U": builders.world(cell, "nominal")}
    study = Study.objects.create(
        name="Pick and sort", slug=slug, cell=cell, is_simulated=True, status=Study.Status.LOCKED,
        locked_at=START, design_sha256="0" * 64,
    )  # fmt: skip
    nominal = Condition.objects.create(study=study, slug="nominal", label="Nominal", trials_per_arm=24)
    shifted = Condition.objects.create(
        study=study, slug="red-light", label="Red light", is_shifted=True, order=1, trials_per_arm=26
    )
    for number, (name, (good_nominal, good_shifted)) in enumerate(successes.items()):
        configuration = None
        if name != "real-only":
            configuration = builders.configuration(worlds[name[0]], "adapt" if name[1] == "G" else "synthesize")
        checkpoint = builders.checkpoint(f"{slug}-{name.lower()}", configuration)
        arm = PolicyArm.objects.create(
            study=study, code=f"K{70 - 7 * number}", policy=checkpoint.policy, checkpoint=checkpoint,
            label=f"policy {name}",
        )  # fmt: skip
        add_trials(arm, nominal, good_nominal, 24)
        add_trials(arm, shifted, good_shifted, 26)
    return study


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
