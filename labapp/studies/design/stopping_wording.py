"""Sentences on a stopping rule before the data: when it looks, what it finds, how long a study takes under it."""

from labapp.statistics.looks import ANYTIME, GROUP_SEQUENTIAL, look_edges, planned_looks
from labapp.statistics.wording import capitalised, percent
from labapp.studies.design.plan import SHAPES, AnalysisPlan
from labapp.studies.design.power import TARGET
from labapp.studies.design.stopping import LONGEST, Stopped


def rule_words(plan: AnalysisPlan) -> str:
    """The rule in a few words, for titles and legends."""
    if plan.stopping == GROUP_SEQUENTIAL:
        return f"{plan.looks} looks, {SHAPES[plan.shape].split(':')[0]}"
    return "betting, read after every block" if plan.stopping == ANYTIME else "one look at the end"


def stopping_sentence(plan: AnalysisPlan, trials: int) -> str:
    """When the data may be looked at, and what that asks of them; empty for a fixed number of trials."""
    if plan.stopping == ANYTIME:
        return (
            "The data may be looked at after every block. That freedom has its price: the confidence sequence is wider "
            "than an interval at the end, so it needs more trials to decide."
        )
    if plan.stopping != GROUP_SEQUENTIAL or not trials:
        return ""
    blocks = planned_looks(trials, plan.looks)
    edges = look_edges(tuple(blocks), plan.strictest_alpha, plan.shape)
    looks = "; ".join(f"after {block}, |z| above {edge:.2f}" for block, edge in zip(blocks, edges, strict=True))
    relaxing = "; as comparisons are decided, the boundaries of the others relax"
    return f"Looks by trials per arm: {looks}{relaxing if plan.strictest_alpha < plan.alpha else ''}."


def stopped_sentences(rows: tuple[Stopped, ...], plan: AnalysisPlan, trials: int) -> list[str]:
    """One sentence per effect and primary comparison."""
    told = [row for row in rows if row.key in plan.primary or ":" not in row.key]
    return [stopped_sentence(row, plan, trials) for row in told if row.effect and row.power is not None]


def stopped_sentence(row: Stopped, plan: AnalysisPlan, trials: int) -> str:
    """Power and length of one comparison under the rule."""
    if row.power is None or row.expected is None:
        return f"{capitalised(row.label)}: no trials are planned, so nothing can be decided."
    rule = f"{plan.looks} looks" if plan.stopping == GROUP_SEQUENTIAL else "betting after every block"
    length = f"{row.expected:.0f} of {trials} trials per arm on average"
    start = f"{capitalised(row.label)} with {rule}: found in {percent(row.power)} of studies, {length}"
    needed = f"about {row.needed}" if row.needed else f"more than {LONGEST}"
    ending = "." if row.power >= TARGET else f"; {percent(TARGET)} power would need {needed} trials per arm."
    return start + ending


def family_caution(rows: tuple[Stopped, ...], plan: AnalysisPlan) -> str:
    """What a plan without primary comparisons costs; empty where it declares some."""
    pairs = sum(row.is_judged for row in rows)
    if not rows or plan.primary or pairs <= 1:
        return ""
    return (
        f"No comparison is primary, so all {pairs} pairs share the level at every look. Declare what the study is "
        "about, and only that is judged: it then needs fewer trials."
    )
