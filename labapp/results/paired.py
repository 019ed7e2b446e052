"""Arms compared over pairs: trials that share a pairing key (imported) or a block of the schedule.

The database counts how often each pattern of outcomes occurs among the blocks, in one aggregate: five arms have few
patterns, however many trials there are. Every pair of arms is then read off the patterns.
"""

from collections.abc import Sequence
from itertools import combinations

from django.contrib.postgres.aggregates import StringAgg
from django.db import connection
from django.db.models import Case, CharField, QuerySet, Value, When
from django.db.models.functions import Cast, Concat

from frontend.dashboards.content import PairedLine
from labapp.results.reading import Reading
from labapp.results.tallies import BLOCK, SUCCEEDED, scored
from labapp.statistics.counts import alpha_of
from labapp.statistics.paired import Paired, paired
from labapp.statistics.wording import capitalised, detectable_effect, level, p_value, percent, points
from labapp.studies.arms import Arm
from labapp.studies.models import Study, Trial

OUTCOME = Concat(Cast("arm_id", CharField()), Value(":"), Case(When(SUCCEEDED, then=Value("1")), default=Value("0")))
PAIRED_TEST = "mcnemar"

Pattern = dict[int, bool]


def paired_lines(study: Study, trials: QuerySet[Trial], reading: Reading) -> tuple[PairedLine, ...]:
    """Every pair of arms that share pairs, for imported studies with a pairing key and studies whose plan pairs."""
    if not (study.is_imported or study.analysis_plan.get("test") == PAIRED_TEST):
        return ()
    counted = block_patterns(trials)
    lines = (_line(first, second, counted, reading) for first, second in combinations(reading.arms, 2))
    return tuple(line for line in lines if line is not None)


def block_patterns(trials: QuerySet[Trial]) -> list[tuple[Pattern, int]]:
    """(arm id -> success, number of blocks with this pattern); an arm twice in a block is left out of it."""
    blocks = (
        scored(trials)
        .annotate(block=BLOCK)
        .exclude(block=None)
        .order_by()
        .values("condition_id", "block")
        .annotate(pattern=StringAgg(OUTCOME, ",", order_by=OUTCOME))
        .values("pattern")
    )
    sql, parameters = blocks.query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT pattern, count(*) FROM ({sql}) AS blocks GROUP BY pattern", parameters)
        return [(_read(text), count) for text, count in cursor.fetchall()]


def _read(text: str) -> Pattern:
    found = [(int(arm_id), outcome == "1") for arm_id, _, outcome in (part.partition(":") for part in text.split(","))]
    once = [arm_id for arm_id, _ in found]
    return {arm_id: outcome for arm_id, outcome in found if once.count(arm_id) == 1}


def pair_counts(counted: Sequence[tuple[Pattern, int]], first: int, second: int) -> tuple[int, int, int]:
    """Blocks that only the first arm won, that only the second won, and all blocks that have both (arm ids)."""
    shared = [(p[first], p[second], count) for p, count in counted if first in p and second in p]
    n10 = sum(count for a, b, count in shared if a and not b)
    n01 = sum(count for a, b, count in shared if b and not a)
    return n10, n01, sum(count for *_, count in shared)


def _line(first: Arm, second: Arm, counted: Sequence[tuple[Pattern, int]], reading: Reading) -> PairedLine | None:
    n10, n01, pairs = pair_counts(counted, first.id, second.id)
    if not pairs:
        return None
    if n01 > n10:  # the better arm stands first: the difference reads as its gain
        first, second, n10, n01 = second, first, n01, n10
    found = paired(n10, n01, pairs, reading.confidence)
    estimate, low, high = (100 * float(value or 0) for value in (found.estimate, found.low, found.high))
    sentence = paired_sentence(first.name, second.name, found)
    href = reading.href([first, second])
    return PairedLine(first.name, second.name, pairs, n10, n01, estimate, low, high, found.p, sentence, href)


def paired_sentence(first: str, second: str, found: Paired) -> str:
    """What the pairs allow to say of two arms; the verdict follows the exact test."""
    if found.estimate is None or found.low is None or found.high is None:
        return f"{capitalised(first)} and {second} share no pairs."
    interval = f"{level(found.confidence)} interval {points(found.low)} to {points(found.high)}"
    counts = f"in {found.n10} of {found.pairs} pairs only {first} succeeded, in {found.n01} only {second}"
    if found.p < alpha_of(found.confidence):
        word = "more" if found.n10 > found.n01 else "less"
        size = f"{abs(100 * found.estimate):.1f} points"
        verdict = f"{capitalised(first)} succeeded {word} often than {second}, pair by pair: {size}"
        return f"{verdict} ({interval}, {p_value(found.p)}); {counts}."
    detectable = detectable_effect(found.low, found.high, found.confidence)
    return (
        f"No difference between {first} and {second} shown: {points(found.estimate)} points ({interval}, "
        f"{p_value(found.p)}); {counts}. This many pairs find a difference of {100 * detectable:.0f} points with "
        f"{percent(0.8)} power."
    )
