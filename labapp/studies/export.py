"""Trials as rows of a table."""

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from labapp.studies.models import Trial

HEADER = [
    "trial", "position", "block", "code", "condition", "object", "belt_speed_m_s", "bin", "seed", "status", "outcome",
    "furthest_stage", "failure_mode", "note", "invalid_reason", "is_automatic", "operator", "duration_s", "latency_ms",
    "started_at", "confirmed_at", "is_simulated",
]  # fmt: skip


def trial_rows(found: QuerySet[Trial], *, with_policies: bool) -> Iterator[list[Any]]:
    """A header and one row a trial; ``latency_ms`` says something of a policy, so it goes with the policies' names."""
    hidden = [] if with_policies else ["latency_ms"]
    yield [name for name in HEADER if name not in hidden] + (["policy"] if with_policies else [])
    for trial in found.iterator(chunk_size=2000):
        row = dict(zip(HEADER, trial_row(trial), strict=True))
        values = [value for name, value in row.items() if name not in hidden]
        yield values + ([trial.arm.label] if with_policies else [])


def trial_row(trial: Trial) -> list[Any]:
    slot = trial.slot
    planned = [slot.object.name, slot.belt_speed, slot.bin, slot.seed] if slot else ["", "", "", ""]
    return [
        trial.pk,
        slot.position if slot else "",
        slot.block if slot else trial.block_label,
        trial.arm.code,
        trial.condition.slug,
        *planned,
        trial.status,
        outcome_word(trial),
        trial.furthest_stage,
        trial.failure_mode,
        trial.note,
        trial.invalid_reason,
        trial.is_automatic,
        trial.operator.get_username() if trial.operator else trial.operator_label,
        trial.duration_s,
        trial.latency_ms,
        trial.started_at.isoformat(),
        trial.confirmed_at.isoformat() if trial.confirmed_at else "",
        trial.study.is_simulated,
    ]


def outcome_word(trial: Trial) -> str:
    return {True: "success", False: "failure", None: ""}[trial.is_success]
