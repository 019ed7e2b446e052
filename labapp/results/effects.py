"""The effects of a study's factorial design as the page shows them."""

from collections.abc import Iterator, Sequence

from frontend.dashboards.content import EffectLine
from frontend.figures.data import CellMean, EffectPoint
from labapp.results.reading import ConditionGroup, Reading, Tally, summary_groups
from labapp.statistics.contrasts import Contrast
from labapp.statistics.counts import Count
from labapp.statistics.factorial import CELLS, Factorial, Table, factorial, pooled
from labapp.statistics.proportions import rate
from labapp.statistics.wording import effect_sentence, interaction_sentence, level, p_value, points
from labapp.studies.design.plan import EFFECTS
from labapp.studies.factors import Design, effect_labels
from labapp.studies.models import Condition


def design_table(design: Design, tally: Tally, conditions: Sequence[Condition]) -> dict[str, list[Count]]:
    """Condition -> counts of the four cells; arms that share a cell are added up."""
    return {
        condition.slug: [tally.count([arm.id for arm in cell], [condition.pk]) for cell in design.cells]
        for condition in conditions
    }


def effect_lines(design: Design, reading: Reading) -> tuple[tuple[EffectLine, ...], tuple[str, ...]]:
    """Main effects and interaction for all, nominal and shifted trials; and notes on what had to be left out."""
    lines, notes = [], []
    for group in summary_groups(reading.conditions):
        table = design_table(design, reading.tally, reading.within(group))
        tried = {slug: cells for slug, cells in table.items() if any(cell.trials for cell in cells)}
        result = factorial(tried, reading.confidence)
        href = reading.href(design.arms, group)
        lines += [
            _effect_line(design, effect, found, group, href)
            for effect in EFFECTS
            if (found := result.effects[effect]) is not None
        ]
        if group.label == "all":
            notes += _notes(design, result)
    return tuple(lines), tuple(notes)


def _effect_line(design: Design, effect: str, found: Contrast, group: ConditionGroup, href: str) -> EffectLine:
    label = effect_labels(design)[effect]
    numbers = (100 * value for value in (found.estimate, found.low, found.high))
    is_interaction = effect == "interaction"
    sentence = interaction_sentence(*design.names, found) if is_interaction else effect_sentence(label, found)
    return EffectLine(EffectPoint(label, group.label, *numbers, href), found.p, sentence)


def _notes(design: Design, result: Factorial) -> Iterator[str]:
    if result.left_out:
        yield f"Effects leave out {', '.join(result.left_out)}: a cell of the design has no trials there."
    if result.effects["main_a"] is None and result.effects["both"] is not None:
        yield _both_sentence(design, result.effects["both"])
    if any(len(cell) > 1 for cell in design.cells):
        yield "Some cells of the design hold several arms; effects add their trials up."


def _both_sentence(design: Design, both: Contrast) -> str:
    """What can be said where only the corners of the design have trials: the sum of the main effects, not each."""
    a, b = design.names
    highs, lows = (" and ".join(levels) for levels in zip(*((high, low) for low, high in design.levels), strict=True))
    interval = f"{level(both.confidence)} interval {points(both.low)} to {points(both.high)}, {p_value(both.p)}"
    return (
        f"The effects of {a} and {b} cannot be told apart: a cell of the design has no trials. Their sum can: {highs} "
        f"over {lows} is {points(both.estimate)} points ({interval})."
    )


def cell_means(design: Design, reading: Reading) -> Iterator[CellMean]:
    """Pooled rates of the four cells, low level of the first factor first."""
    table: Table = pooled(design_table(design, reading.tally, reading.conditions))
    cells = sorted(zip(CELLS, table["all"], design.cells, strict=True), key=lambda cell: cell[0])
    for (high_a, high_b), count, arms in cells:
        result = rate(*count, reading.confidence)
        if result.rate is not None and result.low is not None and result.high is not None:
            levels = design.levels[0][high_a], design.levels[1][high_b]
            yield CellMean(*levels, result.rate, result.low, result.high, reading.href(arms))
