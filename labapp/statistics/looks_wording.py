"""Sentences on looks: where the study stands, whether to go on, and what each comparison allows to say."""

from collections.abc import Sequence
from typing import NamedTuple

from labapp.statistics.looks import Course, Judged, Rule
from labapp.statistics.wording import capitalised, points

FEW = 3  # comparisons named one by one
STOP, GO_ON = "stop", "go on"
HIDDEN_OPEN = "Go on unless the PI says otherwise: comparisons that stay hidden may be open."


class Verdict(NamedTuple):
    """Whether to stop, and why, in one sentence."""

    word: str
    sentence: str


def looks_position(rule: Rule, finished: int) -> str:
    """ "14 of 25 blocks are finished; next look after block 19"."""
    start = f"{finished} of {rule.blocks} blocks are finished"
    coming = [block for block in rule.look_blocks if block > finished]
    return f"{start}; next look after block {coming[0]} of {rule.blocks}" if coming else f"{start}; every look is taken"


def looks_verdict(judged: Sequence[Judged], rule: Rule, finished: int, has_ended: bool = False) -> Verdict:
    """Stop or go on, from the looks taken so far.

    Args:
        has_ended: the study was closed, whatever its looks said.
    """
    still_open = [j for j in judged if j.crossed is None]
    if judged and not still_open:
        return _all_crossed(judged, rule)
    if finished >= rule.look_blocks[-1]:
        return Verdict(STOP, f"Stop: the last look is taken. {_found(judged)}")
    if has_ended:
        return Verdict(STOP, f"The study ended after block {finished}, before its last look. {_found(judged)}")
    if judged and all(j.is_lost for j in still_open):
        return Verdict(STOP, f"Stop: what is open lost an arm and can no longer be judged. {_found(judged)}")
    return Verdict(GO_ON, _go_on(judged, rule, finished))


def _all_crossed(judged: Sequence[Judged], rule: Rule) -> Verdict:
    last = max(j.crossed.number for j in judged if j.crossed)
    if rule.reserved:
        return Verdict(GO_ON, f"{HIDDEN_OPEN} What is shown here is decided, at look {last}.")
    which = "boundary crossed" if len(judged) == 1 else "every comparison crossed its boundary, the last"
    return Verdict(STOP, f"Stop: {which} at look {last}.")


def _go_on(judged: Sequence[Judged], rule: Rule, finished: int) -> str:
    reached = [block for block in rule.look_blocks if block <= finished]
    if not reached:
        return f"Go on: the first look comes after block {rule.look_blocks[0]}; nothing is judged before."
    crossed = [j for j in judged if j.crossed]
    if not crossed:
        return f"Go on: no boundary crossed up to look {len(reached)}."
    if len(crossed) > FEW:
        return f"Go on: {len(crossed)} of {len(judged)} comparisons are decided. The others are open."
    decided = "; ".join(f"{j.comparison.label} is decided, at look {j.crossed.number}" for j in crossed if j.crossed)
    return f"Go on: {decided}. The other comparisons are open."


def _found(judged: Sequence[Judged]) -> str:
    shown = [j.comparison.label for j in judged if j.crossed]
    others = [j.comparison.label for j in judged if not j.crossed]
    parts = [f"Shown: {', '.join(shown)}."] if shown else []
    return " ".join([*parts, f"No effect or difference shown: {', '.join(others)}."] if others else parts)


def judged_sentence(judged: Judged, rule: Rule) -> str:
    """What one comparison allows to say."""
    label = capitalised(judged.comparison.label)
    if look := judged.crossed:
        words = judged.comparison.up if (look.z or 0) > 0 else judged.comparison.down
        return (
            f"{capitalised(words)}: boundary crossed at look {look.number}, after block {look.block} "
            f"(z = {signed(look.z)}, boundary {look.boundary:.2f}, {points(look.estimate or 0)} points)."
        )
    if not judged.looks:
        return f"{label}: not judged yet; its first look comes after block {rule.look_blocks[0]}."
    last = judged.looks[-1]
    if last.z is None:
        return f"{label}: not judged at look {last.number}, for an arm lacks trials up to block {last.block}."
    so_far = (
        f"z = {signed(last.z)} against {last.boundary:.2f} at look {last.number}, {points(last.estimate or 0)} points"
    )
    if last.number == len(rule.look_blocks):
        return f"{label}: no difference shown at the last look ({so_far})."
    return f"{label}: boundary not crossed ({so_far}); no conclusion yet."


def courses_verdict(courses: Sequence[Course], rule: Rule, finished: int, has_ended: bool = False) -> Verdict:
    """Stop or go on, from confidence sequences that may be read at any time."""
    decided = [course for course in courses if course.decided_at is not None]
    if courses and len(decided) == len(courses):
        last = max(course.decided_at or 0 for course in courses)
        if rule.reserved:
            return Verdict(GO_ON, f"{HIDDEN_OPEN} What is shown here is decided, at block {last}.")
        which = "decided" if len(courses) == 1 else "every comparison is decided, the last"
        return Verdict(STOP, f"Stop: {which} at block {last}.")
    found = f"{len(decided)} of {len(courses)} comparisons are decided" if decided else "nothing is decided"
    if has_ended or finished == rule.blocks > 0:
        return Verdict(STOP, f"The blocks end after {finished}: {found}. No difference is shown for what is open.")
    if not finished:
        return Verdict(GO_ON, "Go on: no block is finished yet.")
    return Verdict(GO_ON, f"Go on: {found} after {finished} blocks. Stopping now is allowed, but decides no more.")


def course_sentence(course: Course) -> str:
    """The interval now, and since when it excludes zero."""
    comparison = course.comparison
    if not course.blocks:
        return f"{capitalised(comparison.label)}: no finished block holds all its arms yet."
    interval = (
        f"{100 * (1 - course.level):.4g}% sequence {points(course.lows[-1])} to {points(course.highs[-1])} points"
    )
    if course.decided_at is None:
        return f"{capitalised(comparison.label)}: not decided after {len(course.blocks)} blocks ({interval})."
    words = comparison.up if course.lows[-1] > 0 else comparison.down
    return f"{capitalised(words)}: decided at block {course.decided_at} ({interval} now)."


def level_sentence(rule: Rule, comparisons: int) -> str:
    """How the level is spent over several comparisons and looks."""
    shared = f"Level {rule.alpha:g}, two-sided"
    comparisons += rule.reserved
    if comparisons > 1:
        each = f"{rule.level(comparisons - rule.reserved):.3g}"
        split = f", split over {comparisons} comparisons ({each} each; what one has decided hands its share on)"
        if rule.kind == "anytime":
            split = f", split over {comparisons} comparisons ({each} each), so that all intervals hold together"
        shared += split if rule.is_split else " for each comparison: the plan declares no adjustment for several"
    return f"{shared}."


def signed(z: float | None) -> str:
    """A z with its sign: 2.3 -> "+2.30"."""
    text = "none" if z is None else f"{z:+.2f}".replace("-", "−")
    return "0.00" if text in ("+0.00", "−0.00") else text
