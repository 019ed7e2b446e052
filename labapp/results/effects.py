"""The effects of a study's factorial design as the page shows them."""

from collections.abc import Sequence

from frontend.dashboards.content import EffectLine
from frontend.figures.data import CellMean, EffectPoint
from labapp.results.analysis import Tally, summary_groups
from labapp.results.links import TrialLinks
from labapp.statistics.contrasts import Contrast
from labapp.statistics.counts import Count
from labapp.statistics.factorial import CELLS, Table, factorial, pooled
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


def effect_lines(
    design: Design, tally: Tally, conditions: Sequence[Condition], confidence: float, links: TrialLinks
) -> tuple[tuple[EffectLine, ...], tuple[str, ...]]:
    """Main effects and interaction for all, nominal and shifted trials; and notes on what had to be left out."""
    lines, notes = [], []
    labels, arms = effect_labels(design), [arm for cell in design.cells for arm in cell]
    for group in summary_groups(conditions):
        inside = [c for c in conditions if c.pk in group.condition_ids]
        table = {slug: cells for slug, cells in design_table(design, tally, inside).items() if _any_trials(cells)}
        result = factorial(table, confidence)
        for effect in EFFECTS:
            found = result.effects[effect]
            if found is not None:
                numbers = (100 * value for value in (found.estimate, found.low, found.high))
                point = EffectPoint(labels[effect], group.label, *numbers, links.to(arms, group.slugs))
                if effect == "interaction":
                    sentence = interaction_sentence(*design.names, found)
                else:
                    sentence = effect_sentence(labels[effect], found)
                lines.append(EffectLine(point, found.p, sentence))
        if group.label == "all" and result.left_out:
            notes.append(f"Effects leave out {', '.join(result.left_out)}: a cell of the design has no trials there.")
        if group.label == "all" and result.effects["main_a"] is None and result.effects["both"] is not None:
            notes.append(_both_sentence(design, result.effects["both"]))
    return tuple(lines), tuple(notes)


def _both_sentence(design: Design, both: Contrast) -> str:
    """What can be said where only the corners of the design have trials: the sum of the main effects, not each."""
    a, b = design.names
    highs, lows = (" and ".join(levels) for levels in zip(*((high, low) for low, high in design.levels), strict=True))
    interval = f"{level(both.confidence)} interval {points(both.low)} to {points(both.high)}, {p_value(both.p)}"
    return (
        f"The effects of {a} and {b} cannot be told apart: a cell of the design has no trials. Their sum can: {highs} "
        f"over {lows} is {points(both.estimate)} points ({interval})."
    )


def cell_means(
    design: Design, tally: Tally, conditions: Sequence[Condition], confidence: float, links: TrialLinks
) -> tuple[CellMean, ...]:
    """Pooled rates of the four cells, low level of the first factor first."""
    table: Table = pooled(design_table(design, tally, conditions))
    means, slugs = [], [c.slug for c in conditions]
    for (high_a, high_b), count, arms in sorted(
        zip(CELLS, table["all"], design.cells, strict=True), key=lambda c: c[0]
    ):
        result = rate(*count, confidence)
        if result.rate is not None and result.low is not None and result.high is not None:
            levels = design.levels[0][high_a], design.levels[1][high_b]
            means.append(CellMean(*levels, result.rate, result.low, result.high, links.to(arms, slugs)))
    return tuple(means)


def _any_trials(cells: Sequence[Count]) -> bool:
    return any(cell.trials for cell in cells)
