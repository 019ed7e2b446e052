"""Checks that need more than the page's counts: drift over time, operators, sessions, blocks entered twice.

Run on demand; each is one aggregate, so a million trials are no loop in Python.
"""

from collections import defaultdict

from django.contrib.postgres.aggregates import CovarPop, StringAgg
from django.db.models import (
    Avg,
    Case,
    CharField,
    Count,
    F,
    FloatField,
    Q,
    QuerySet,
    Value,
    Variance,
    When,
)
from django.db.models.functions import Cast, Coalesce, Concat, Extract, Round

from labapp.results.tallies import BLOCK, OPERATOR, SUCCEEDED, scored
from labapp.statistics import cautions
from labapp.statistics.counts import Count as Successes
from labapp.studies.models import Trial

STRATUM = ("arm_id", "condition_id")
SUCCESS = Case(When(SUCCEEDED, then=1.0), default=0.0, output_field=FloatField())
TIME = Extract("started_at", "epoch", output_field=FloatField())


def find_cautions(trials: QuerySet[Trial]) -> tuple[str, ...]:
    """Sentences about what may mislead; empty where nothing was found."""
    ended = scored(trials)
    found = [
        cautions.drift(trend_sums(ended)),
        cautions.groups_differ("operators", group_counts(ended, OPERATOR)),
        cautions.groups_differ("sessions", group_counts(ended, F("session_id"))),
        cautions.copies_caution(copied_blocks(ended)),
    ]
    return (*(caution.message for caution in found if caution), *undated(ended))


def undated(ended: QuerySet[Trial]) -> tuple[str, ...]:
    """What is said where imported trials do not tell when they began."""
    counts = ended.aggregate(all=Count("pk"), unknown=Count("pk", filter=Q(started_at=None)))
    if not counts["unknown"]:
        return ()
    if counts["unknown"] == counts["all"]:
        return ("No trial tells when it began: drift over time cannot be seen.",)
    which = f"{counts['unknown']:,} of {counts['all']:,} trials"
    return (f"{which} do not tell when they began: drift over time was looked for among the others.",)


def trend_sums(ended: QuerySet[Trial]) -> list[cautions.TrendSums]:
    """Per arm and condition, of trials whose start is known: trials, rate, and moments of success with time."""
    rows = (
        ended.exclude(started_at=None)
        .values_list(*STRATUM)
        .annotate(n=Count("pk"), rate=Avg(SUCCESS), covariance=CovarPop(SUCCESS, TIME), variance=Variance(TIME))
    )
    return [cautions.TrendSums(*row[len(STRATUM) :]) for row in rows]


def group_counts(ended: QuerySet[Trial], group: F | Coalesce) -> list[dict[str, Successes]]:
    """Per arm and condition: successes and trials of each group; trials without a group are left out."""
    rows = (
        ended.annotate(member=group)
        .exclude(member=None)
        .values_list(*STRATUM, "member")
        .annotate(k=Count("pk", filter=SUCCEEDED), n=Count("pk"))
    )
    strata: dict[tuple[int, int], dict[str, Successes]] = defaultdict(dict)
    for arm, condition, member, k, n in rows:
        strata[arm, condition][str(member)] = Successes(k, n)
    return list(strata.values())


def copied_blocks(ended: QuerySet[Trial]) -> list[list[str]]:
    """Groups of blocks whose trials agree in arms, outcomes and times; see `cautions.duplicate_blocks`."""
    one = Concat(
        Cast("arm_id", CharField()), Value(":"), Cast("is_success_then", CharField()), Value(":"),
        Cast(Round(Cast("duration_s_then", FloatField()) * 1000), CharField()), output_field=CharField(),
    )  # fmt: skip
    blocks = (
        ended.annotate(in_block=BLOCK)
        .exclude(in_block=None)
        .values("in_block")
        .annotate(
            recording=StringAgg(one, Value(","), order_by="arm_id"),
            successes=Count("pk", filter=SUCCEEDED),
            untimed=Count("pk", filter=Q(duration_s_then=None)),
        )
        .filter(successes__gte=cautions.SUCCESSES_TO_COMPARE, untimed=0)
        .values_list("recording", "in_block")
    )
    same: dict[str, list[str]] = defaultdict(list)
    for recording, block in blocks.order_by("in_block").iterator():
        same[recording].append(block)
    return [names for names in same.values() if len(names) > 1]
