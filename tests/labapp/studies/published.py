"""The published study as far as its totals are known: real only 26 of 50, both grounded 43 of 50, neither 29 of 50.

29 follows from the published main effects (18 + 10 points = both grounded minus neither). The two mixed configurations
were not published one by one: their arms are here without trials, and nothing is invented for them.
"""

from datetime import UTC, datetime

from labapp.studies.importing.outcome_tables import ArmColumns, TableMapping, read_outcomes
from labapp.studies.importing.services import study_import
from labapp.studies.models import PolicyArm, Study

TRIALS = 50
REAL_ONLY, BOTH_GROUNDED, NEITHER = 26, 43, 29
KNOWN = {
    ("both grounded", "grounded", "grounded"): BOTH_GROUNDED,
    ("neither grounded", "ungrounded", "ungrounded"): NEITHER,
}
UNKNOWN = {"world only": ("grounded", "ungrounded"), "behavior only": ("ungrounded", "grounded")}
WORLD_POINTS, BEHAVIOR_POINTS = 18, 10


def published_study() -> Study:
    """A finished study with exactly the published counts."""
    now = datetime(2026, 9, 30, tzinfo=UTC)
    mapping = TableMapping(
        outcomes=(ArmColumns("success"),), arm="policy", factors={"world": "world", "behavior": "behavior"}
    )
    lines = [
        f"{name},{world},{behavior},{int(trial < successes)}"
        for (name, world, behavior), successes in KNOWN.items()
        for trial in range(TRIALS)
    ]
    rows = read_outcomes("\n".join(["policy,world,behavior,success", *lines]), mapping)
    real = TableMapping(outcomes=(ArmColumns("success"),), arm="policy")
    rows += read_outcomes(
        "\n".join(["policy,success", *(f"real only,{int(t < REAL_ONLY)}" for t in range(TRIALS))]), real
    )
    study = study_import(name="Published totals", rows=rows, actor=None, is_simulated=False, now=now)
    PolicyArm.objects.bulk_create(
        PolicyArm(study=study, code=f"arm {number}", label=name, factors={"world": world, "behavior": behavior})
        for number, (name, (world, behavior)) in enumerate(UNKNOWN.items(), start=4)
    )
    return study
