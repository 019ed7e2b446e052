"""What the analysis plan declared before the data, and what came of it: margins, and when to look."""

from collections.abc import Callable
from datetime import datetime

from frontend.dashboards.content import DeclaredLine
from labapp.results.reading import Reading
from labapp.statistics.counts import Count
from labapp.statistics.equivalence import (
    EQUIVALENT,
    INFERIOR,
    NON_INFERIOR,
    SUPERIOR,
    Verdict,
    equivalence,
    non_inferiority,
)
from labapp.statistics.wording import capitalised, level, p_value, points
from labapp.studies.design.plan import AnalysisPlan, Margin, PlanError
from labapp.studies.models import Study

TESTS: dict[str, Callable[..., Verdict]] = {"equivalence": equivalence, "non_inferiority": non_inferiority}
CLAIMS = {"equivalence": "equivalent to", "non_inferiority": "not worse than"}


def declared_plan(study: Study) -> AnalysisPlan | None:
    """The plan, or None where none was declared or it is none of ours."""
    try:
        return AnalysisPlan.from_json(study.analysis_plan) if study.analysis_plan else None
    except PlanError:
        return None


def margin_lines(plan: AnalysisPlan | None, reading: Reading) -> tuple[DeclaredLine, ...]:
    """One sentence per declared margin between arms that are shown, and the way to both arms' trials."""
    if plan is None:
        return ()
    shown = {arm.code: arm for arm in reading.arms}

    def line(margin: Margin) -> DeclaredLine:
        pair = [shown[margin.first], shown[margin.second]]
        first, second = ((arm.name, reading.count([arm])) for arm in pair)
        return DeclaredLine(_sentence(margin, first, second, plan.alpha), reading.href(pair))

    return tuple(line(m) for m in plan.margins if m.first in shown and m.second in shown)


def _sentence(margin: Margin, first: tuple[str, Count], second: tuple[str, Count], alpha: float) -> str:
    (name, count), (other, against) = first, second
    size = f"{100 * margin.margin:g} points"
    if not count.trials or not against.trials:
        return f"{capitalised(name)} and {other} (margin {size}) cannot be judged: one of them has no trials."
    found = TESTS[margin.kind](*count, *against, margin.margin, alpha)
    interval = (
        f"{points(found.estimate)} points, {level(1 - 2 * alpha)} interval {points(found.low)} to {points(found.high)}"
    )
    verdicts = {
        EQUIVALENT: f"{capitalised(name)} is equivalent to {other} within {size}",
        NON_INFERIOR: f"{capitalised(name)} is not worse than {other} by {size}",
        INFERIOR: f"{capitalised(name)} is worse than {other} by more than {size}",
        SUPERIOR: f"{capitalised(name)} is better than {other} by more than {size}",
    }
    undecided = f"Not shown that {name} is {CLAIMS[margin.kind]} {other} within {size}"
    return f"{verdicts.get(found.verdict, undecided)} ({interval}, {p_value(found.p)})."


def has_ended(study: Study, until: datetime | None) -> bool:
    """Whether the study was closed by then."""
    return study.finished_at is not None and (until is None or study.finished_at <= until)


def looking_notes(study: Study, plan: AnalysisPlan | None, until: datetime | None) -> tuple[str, ...]:
    """A caution where the data are looked at before the plan says so."""
    is_running = study.status != Study.Status.DRAFT and not has_ended(study, until)
    if plan is None or not is_running or plan.stopping == "anytime":
        return ()
    when = "once, at the end" if plan.stopping == "fixed" else f"{plan.looks} times, at its boundaries"
    where = " The card of looks says what may be concluded." if plan.stopping == "group-sequential" else ""
    start = f"Trials are still to come, and the plan looks at the data {when}"
    return (f"{start}: these figures are no conclusion yet.{where}",)
