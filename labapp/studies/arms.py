"""Arms and conditions of a study as its results show them: names or codes, factor levels, order."""

from dataclasses import dataclass, field
from datetime import datetime

from labapp.studies.models import Condition, PolicyArm, Study

GROUNDING = ("grounded", "ungrounded")


@dataclass(frozen=True)
class Arm:
    """One arm. `factors` are its levels in the factorial design; empty for a baseline such as real-only."""

    id: int
    code: str
    name: str
    detail: str
    factors: dict[str, str] = field(default_factory=dict)


def arm_factors(arm: PolicyArm) -> dict[str, str]:
    """World and behavior of the policy's grounding configuration, or the levels an imported arm declares."""
    configuration = arm.policy.configuration if arm.policy else None
    if configuration is None:
        return {name: str(level) for name, level in arm.factors.items()}
    behavior = "grounded" if configuration.behavior.is_grounded else "ungrounded"
    return {"world": configuration.world.grounding, "behavior": behavior}


def study_arms(study: Study, with_names: bool, until: datetime | None = None) -> list[Arm]:
    """Arms in the order of the page; without names they show as codes, ordered by code, and carry no factors.

    An arm that was withdrawn after `until` is not withdrawn yet.
    """
    rows = study.arms.select_related("policy__configuration__world", "policy__configuration__behavior")
    if not with_names:
        return [Arm(row.pk, row.code, row.code, _withdrawn(row, until)) for row in rows.order_by("code")]
    return sorted((_named_arm(row, until) for row in rows), key=_order)


def study_conditions(study: Study) -> list[Condition]:
    """The study's conditions in their order."""
    return list(study.conditions.order_by("order", "slug"))


def _named_arm(row: PolicyArm, until: datetime | None) -> Arm:
    factors = arm_factors(row)
    what = ", ".join(f"{name} {level}" for name, level in factors.items())
    if not what and row.policy:
        what = "real demonstrations only"
    parts = [what, row.code, _withdrawn(row, until)]
    return Arm(row.pk, row.code, row.label, " · ".join(part for part in parts if part), factors)


def _withdrawn(row: PolicyArm, until: datetime | None) -> str:
    at = row.withdrawn_at
    return f"withdrawn {at:%Y-%m-%d}" if at and (until is None or at <= until) else ""


def _order(arm: Arm) -> tuple[bool, list[int], str]:
    """Factored arms first, the most grounded on top."""
    ranks = [GROUNDING.index(level) if level in GROUNDING else len(GROUNDING) for level in arm.factors.values()]
    return not arm.factors, ranks, arm.name
