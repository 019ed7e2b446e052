"""What can make right numbers mislead: Simpson's reversal, drift, duplicates, uneven invalid trials, in words."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from labapp.statistics.counts import Count
from labapp.statistics.proportions import as_float
from labapp.statistics.wording import p_value, percent

ALPHA = 0.05
SUCCESSES_TO_COMPARE = 2  # timed successes of a block whose copy would be no coincidence


class Caution(NamedTuple):
    """One thing that the reader of a result should know."""

    kind: str
    message: str


def simpson(first: str, second: str, strata: Mapping[str, tuple[Count, Count]]) -> Caution | None:
    """Warn where one arm is ahead pooled, and the other is ahead or equal in every stratum (and ahead in one)."""
    usable = {name: pair for name, pair in strata.items() if pair[0].trials and pair[1].trials}
    if len(usable) < 2:
        return None
    pooled = _lead(sum((a for a, _ in usable.values()), Count(0, 0)), sum((b for _, b in usable.values()), Count(0, 0)))
    within = [_lead(a, b) for a, b in usable.values()]
    if pooled == 0 or any(lead == pooled for lead in within) or not any(within):
        return None
    ahead, behind = (first, second) if pooled > 0 else (second, first)
    return Caution(
        "simpson",
        f"{ahead} is ahead of {behind} over all trials, but not within {', '.join(usable)}: the arms ran different "
        "shares of easy and hard trials. Trust the stratified effect.",
    )


class TrendSums(NamedTuple):
    """What a stratum (arm and condition) says about a trend: trials, success rate, and population moments with time."""

    trials: int
    rate: float
    covariance: float
    variance: float


def trend_test(strata: Iterable[TrendSums]) -> tuple[float, float]:
    """Score test of a trend of success along time within strata, from sums that a database can compute.

    Returns:
        (z, p): z above 0 where success rises; (0, 1) where nothing varies.
    """
    score = variance = 0.0
    for n, rate, covariance, spread in strata:
        if n > 1:
            score += n * covariance
            variance += rate * (1 - rate) * n * spread * n / (n - 1)
    if variance <= 0:
        return 0.0, 1.0
    z = score / np.sqrt(variance)
    return float(z), as_float(2 * stats.norm.sf(abs(z)))


def stratified_trend(success: ArrayLike, order: ArrayLike, strata: Sequence[Hashable]) -> tuple[float, float]:
    """`trend_test` from rows: outcome, place in time and stratum of each trial."""
    y, t = np.asarray(success, dtype=float), np.asarray(order, dtype=float)
    groups = (np.array(rows) for rows in _by(strata).values())
    return trend_test(
        TrendSums(len(r), y[r].mean(), float(np.mean((y[r] - y[r].mean()) * t[r])), float(t[r].var())) for r in groups
    )


def association_test(strata: Iterable[Mapping[Hashable, Count]]) -> float:
    """p-value that groups (operators, sessions) differ within strata: generalised Cochran-Mantel-Haenszel test.

    Args:
        strata: for each stratum (arm and condition) the counts of every group in it.
    """
    tables = [{group: count for group, count in table.items() if count.trials} for table in strata]
    groups = sorted({group for table in tables for group in table}, key=str)[:-1]
    score, covariance = np.zeros(len(groups)), np.zeros((len(groups), len(groups)))
    for table in tables:
        total = sum(table.values(), Count(0, 0))
        if total.trials < 2:
            continue
        k = np.array([table.get(group, Count(0, 0)).successes for group in groups])
        n = np.array([table.get(group, Count(0, 0)).trials for group in groups])
        rate = total.successes / total.trials
        score += k - rate * n
        spread = np.diag(n) - np.outer(n, n) / total.trials
        covariance += rate * (1 - rate) * total.trials / (total.trials - 1) * spread
    rank = int(np.linalg.matrix_rank(covariance)) if groups else 0
    if rank == 0:
        return 1.0
    return as_float(stats.chi2.sf(score @ np.linalg.pinv(covariance) @ score, rank))


def stratified_association(success: ArrayLike, group: Sequence[Hashable], strata: Sequence[Hashable]) -> float:
    """`association_test` from rows: outcome, group and stratum of each trial."""
    y = np.asarray(success, dtype=int)
    tables: dict[Hashable, dict[Hashable, Count]] = defaultdict(lambda: defaultdict(lambda: Count(0, 0)))
    for outcome, member, stratum in zip(y, group, strata, strict=True):
        tables[stratum][member] += Count(int(outcome), 1)
    return association_test(tables.values())


def drift(strata: Iterable[TrendSums]) -> Caution | None:
    """Warn where success rises or falls over the study within arms and conditions."""
    z, p = trend_test(strata)
    if p >= ALPHA:
        return None
    direction = "rose" if z > 0 else "fell"
    return Caution("drift", f"Success {direction} over the study within the same arms and conditions ({p_value(p)}).")


def groups_differ(what: str, strata: Iterable[Mapping[Hashable, Count]]) -> Caution | None:
    """Warn where trials of different operators (or sessions) succeed at different rates within arms and conditions."""
    p = association_test(strata)
    if p >= ALPHA:
        return None
    return Caution(what, f"Success differs between {what} within the same arms and conditions ({p_value(p)}).")


def invalid_trials(arms: Mapping[str, Count]) -> Caution | None:
    """Warn where arms lost different shares of trials as invalid; `Count` holds invalid trials of all started."""
    tried = {name: count for name, count in arms.items() if count.trials}
    if len(tried) < 2 or not any(count.successes for count in tried.values()):
        return None
    p = association_test([tried])
    if p >= ALPHA:
        return None
    worst = max(tried, key=lambda name: tried[name].successes / tried[name].trials)
    return Caution(
        "invalid",
        f"Arms lost different shares of trials as invalid ({p_value(p)}); most in {worst}: "
        f"{percent(tried[worst].rate)}. Invalid trials may hide failures.",
    )


def repeated_trials(keys: Iterable[tuple[Hashable, Hashable]]) -> Caution | None:
    """Warn where an arm has more than one trial in the same block; keys are (block, arm)."""
    seen: dict[tuple[Hashable, Hashable], int] = defaultdict(int)
    for key in keys:
        seen[key] += 1
    repeated = [f"{arm} in block {block}" for (block, arm), times in seen.items() if times > 1]
    if not repeated:
        return None
    return Caution("repeated", f"More than one trial of the same arm in a block: {_some(repeated)}.")


def duplicate_blocks(blocks: Mapping[Hashable, Sequence[tuple[Hashable, bool, float | None]]]) -> Caution | None:
    """Warn where two blocks hold the same recording twice: same arms, outcomes and times to the millisecond.

    Args:
        blocks: block -> its trials as (arm, success, duration in s). Only blocks with SUCCESSES_TO_COMPARE timed
            successes are compared: equal outcomes alone, or failures that all ended at the time limit, show no copy.
    """
    same: dict[tuple, list[str]] = defaultdict(list)
    for block, trials in blocks.items():
        timed = [(arm, success, round(seconds, 3)) for arm, success, seconds in trials if seconds is not None]
        if len(timed) == len(trials) and sum(success for _, success, _ in timed) >= SUCCESSES_TO_COMPARE:
            same[tuple(sorted(timed, key=str))].append(str(block))
    return copies_caution([names for names in same.values() if len(names) > 1])


def copies_caution(copies: Sequence[Sequence[str]]) -> Caution | None:
    """The warning about groups of blocks that hold the same recording."""
    if not copies:
        return None
    text = _some([" and ".join(names) for names in copies])
    return Caution("duplicates", f"Blocks with identical outcomes and times, probably entered twice: {text}.")


def _lead(a: Count, b: Count) -> int:
    difference = a.successes * b.trials - b.successes * a.trials
    return (difference > 0) - (difference < 0)


def _by(strata: Sequence[Hashable]) -> dict[Hashable, list[int]]:
    rows: dict[Hashable, list[int]] = defaultdict(list)
    for index, stratum in enumerate(strata):
        rows[stratum].append(index)
    return rows


def _some(names: Sequence[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
