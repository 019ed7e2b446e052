"""The looks that a study's plan allows, and what they conclude: trials in block order to the page's card.

Looks belong to the plan: they count all arms and conditions whatever the page's filters, and only `until` moves them.
"""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache

import numpy as np

from frontend.dashboards.content import LookedComparison, LooksCard
from frontend.dashboards.filters import Filters
from frontend.figures.data import CoursePath, LookPath
from labapp.results.blocks import Blocks, planned_blocks, read_blocks, scheduled, withdrawn
from labapp.results.declared import has_ended
from labapp.statistics import looks_wording as wording
from labapp.statistics.looks import (
    ANYTIME,
    GROUP_SEQUENTIAL,
    Comparison,
    Course,
    Judged,
    Rule,
    effect_comparison,
    follow,
    judge_looks,
    pair_comparison,
    pair_comparisons,
)
from labapp.studies.arms import Arm
from labapp.studies.design.plan import EFFECTS, SHAPES, AnalysisPlan
from labapp.studies.factors import effect_labels, find_design
from labapp.studies.models import Study

LARGEST_BLOCKS = {GROUP_SEQUENTIAL: 20_000, ANYTIME: 2_000}  # about a second of work; the command line takes any
DEFAULT_ALPHA = 0.05
HIDDEN = (
    "Primary comparisons that are effects of the factors stay hidden until the PI unblinds the study, and keep their "
    "share of the level; whether they are decided, the PI sees here."
)
SCORES = "z is the pooled score of two arms; for effects it is that of the page's own test, conditions added up."
BIASED = "An estimate at a crossed boundary is on average somewhat too large: studies stop when they are ahead."
EXCHANGEABLE = "A sequence rests on blocks in random order, as the schedule draws them."
TITLES = {GROUP_SEQUENTIAL: "group-sequential", ANYTIME: "anytime-valid, betting"}


def looks_card(
    study: Study, arms: Sequence[Arm], plan: AnalysisPlan | None, filters: Filters, with_names: bool
) -> LooksCard | None:
    """The card, or None for a plan that looks once, at the end.

    Args:
        arms: all arms of the study, in the order of the page.
    """
    if plan is None or not has_looks(plan) or not arms:
        return None
    planned, total = planned_blocks(study, filters.until)
    if not planned:
        return None
    comparisons, hidden = compared(arms, plan, with_names)
    rule = plan_rule(plan, planned, total, hidden)
    empty = LooksCard(TITLES[rule.kind], _note(plan, rule), planned=rule.blocks)
    if not comparisons:
        return replace(empty, missing=HIDDEN if hidden else "Nothing can be compared.")
    if total > LARGEST_BLOCKS[rule.kind]:
        text = f"More than {LARGEST_BLOCKS[rule.kind]:,} blocks: export the rows and use the command line."
        return replace(empty, missing=text)
    gone = withdrawn(study, filters.until)
    blocks = read_blocks(scheduled(study, filters.until), arms, gone, total)
    notes = [*([HIDDEN] if hidden else []), wording.level_sentence(rule, len(comparisons))]
    if rule.kind == GROUP_SEQUENTIAL and total > planned:
        notes.append(f"Blocks after {planned} were added later and lie beyond the plan's last look.")
    notes += [SCORES, BIASED] if rule.kind == GROUP_SEQUENTIAL else [EXCHANGEABLE]
    card = replace(empty, notes=tuple(notes), command=command_line(study, arms, gone, comparisons, rule))
    fill = _with_looks if rule.kind == GROUP_SEQUENTIAL else _with_courses
    return fill(card, rule, comparisons, blocks, has_ended(study, filters.until))


def has_looks(plan: AnalysisPlan) -> bool:
    """Whether the plan looks at the data before the end."""
    return plan.stopping in TITLES


def looks_facts(study: Study, plan: AnalysisPlan | None, until: datetime | None) -> list[tuple]:
    """What the card follows from beside the trials: blocks, withdrawn arms, the end of the study."""
    if plan is None or not has_looks(plan):
        return []
    gone, blocks = sorted(withdrawn(study, until)), planned_blocks(study, until)
    return [("blocks", *blocks), ("withdrawn", *gone), ("ended", has_ended(study, until))]


def plan_rule(plan: AnalysisPlan, planned: int, total: int, hidden: int = 0) -> Rule:
    """The rule of the plan; without declared primary comparisons all pairs share the level.

    Args:
        planned, total: blocks of the locked schedule, and with those that amendments added.
        hidden: comparisons that keep their share of the level but are not shown.
    """
    is_split = plan.adjustment == "holm" or not plan.primary
    if plan.stopping == ANYTIME:
        return Rule(ANYTIME, plan.alpha, is_split, total, reserved=hidden)
    return Rule(GROUP_SEQUENTIAL, plan.alpha, is_split, planned, plan.looks, plan.shape, hidden)


def compared(arms: Sequence[Arm], plan: AnalysisPlan, with_names: bool) -> tuple[list[Comparison], int]:
    """The primary comparisons (all pairs where none is declared), and how many stay hidden from this viewer."""
    codes, names = [arm.code for arm in arms], {arm.code: arm.name for arm in arms}
    if not plan.primary:
        return pair_comparisons(codes, names), 0
    pairs = [key.partition(":") for key in plan.primary if key not in EFFECTS]
    found = [pair_comparison(codes, a, b, names) for a, _, b in pairs if {a, b} <= set(codes) and a != b]
    effects = [key for key in EFFECTS if key in plan.primary]
    if effects and not with_names:
        return found, len(effects)
    design = find_design(arms)
    if not effects or design is None or not all(design.cells):
        return found, 0
    labels, cells = effect_labels(design), [[arm.code for arm in cell] for cell in design.cells]
    return [*(effect_comparison(codes, cells, key, labels[key]) for key in effects), *found], 0


def _with_looks(
    card: LooksCard, rule: Rule, comparisons: Sequence[Comparison], blocks: Blocks, has_ended: bool
) -> LooksCard:
    judged = judge_looks(blocks.table, comparisons, rule)
    finished = min(blocks.finished, rule.blocks)
    verdict = wording.looks_verdict(judged, rule, finished, has_ended)
    still_open = sum(j.crossed is None for j in judged)
    return replace(
        card,
        verdict=verdict.word,
        sentence=verdict.sentence,
        position=wording.looks_position(rule, finished),
        finished=finished,
        look_blocks=tuple(rule.look_blocks),
        comparisons=tuple(_looked(j, rule, still_open) for j in judged),
    )


def _looked(judged: Judged, rule: Rule, still_open: int) -> LookedComparison:
    """One row; boundaries to come are those of the comparisons that are still open."""
    edges = [look.boundary for look in judged.looks]
    if judged.crossed is None:
        edges += rule.edges(still_open)[len(edges) :]
    crossed = judged.crossed
    path = LookPath(
        judged.comparison.label,
        tuple(rule.look_blocks),
        tuple(edges),
        tuple(look.z for look in judged.looks),
        crossed.block if crossed else None,
    )
    estimates = tuple(None if look.estimate is None else 100 * look.estimate for look in judged.looks)
    sentence = wording.judged_sentence(judged, rule)
    return LookedComparison(judged.comparison.key, judged.comparison.label, sentence, path, estimates)


def _with_courses(
    card: LooksCard, rule: Rule, comparisons: Sequence[Comparison], blocks: Blocks, has_ended: bool
) -> LooksCard:
    courses = _courses(blocks.table.tobytes(), blocks.table.shape[1], tuple(comparisons), rule)
    verdict = wording.courses_verdict(courses, rule, blocks.finished, has_ended)
    return replace(
        card,
        verdict=verdict.word,
        sentence=verdict.sentence,
        position=f"{blocks.finished} of {rule.blocks} blocks are finished; the data may be read after each",
        finished=blocks.finished,
        comparisons=tuple(_followed(course) for course in courses),
    )


@lru_cache(maxsize=32)
def _courses(outcomes: bytes, arms: int, comparisons: tuple[Comparison, ...], rule: Rule) -> list[Course]:
    """Kept, for a page is drawn anew for every viewer, theme and filter."""
    return follow(np.frombuffer(outcomes).reshape(-1, arms), comparisons, rule)


def _followed(course: Course) -> LookedComparison:
    label = course.comparison.label
    estimates, lows, highs = (
        tuple(100 * share for share in shares) for shares in (course.estimates, course.lows, course.highs)
    )
    path = CoursePath(label, course.blocks, estimates, lows, highs, course.decided_at)
    return LookedComparison(course.comparison.key, label, wording.course_sentence(course), path, estimates)


def _note(plan: AnalysisPlan, rule: Rule) -> str:
    if rule.kind == ANYTIME:
        return "betting confidence sequences after every block; all arms and conditions, whatever the filters"
    shape = SHAPES[plan.shape].split(":")[0]
    return f"{len(rule.look_blocks)} looks, {shape} boundaries; all arms and conditions, whatever the filters"


def command_line(
    study: Study, arms: Sequence[Arm], gone: Iterable[int], comparisons: Sequence[Comparison], rule: Rule
) -> str:
    """What gives the same from the exported rows (without the page's filters)."""
    out = [arm.code for arm in arms if arm.id in set(gone)]
    words = ["sequential", f"{study.slug}-trials.csv", "--arm", "arm", "--outcome", "success", "--block", "block"]
    words += ["--arms", ",".join(arm.code for arm in arms), *(["--withdrawn", ",".join(out)] if out else [])]
    words += ["--anytime"] if rule.kind == ANYTIME else ["--looks", str(rule.looks), "--shape", rule.shape]
    words += ["--planned", str(rule.blocks), "--primary", ",".join(c.key for c in comparisons)]
    if any(c.key in EFFECTS for c in comparisons) and (design := find_design(arms)):
        words += ["--factors", ",".join(design.names)]
    words += ["--reserved", str(rule.reserved)] if rule.reserved else []
    words += [] if rule.is_split else ["--adjustment", "none"]
    words += [] if rule.alpha == DEFAULT_ALPHA else ["--confidence", f"{1 - rule.alpha:g}"]
    return "python -m labapp.statistics " + shlex.join(words)
