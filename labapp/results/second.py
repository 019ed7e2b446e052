"""Second views of what the page says: the Bayesian posterior of the effects, progress by stages, the logistic model."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations

import numpy as np
from django.db.models import QuerySet, Value
from django.db.models.functions import Coalesce

from frontend.dashboards.content import PosteriorLine, ProgressLine
from labapp.results.analysis import furthest_stages
from labapp.results.effects import design_table
from labapp.results.reading import Reading, summary_groups
from labapp.results.tallies import BLOCK, OPERATOR, scored
from labapp.statistics.commands import SEED
from labapp.statistics.counts import Count
from labapp.statistics.graded import Graded, compare_stage_counts
from labapp.statistics.models import logistic_sensitivity, sensitivity_sentences
from labapp.statistics.multiplicity import holm
from labapp.statistics.posterior import PosteriorEffect, posterior_effects
from labapp.studies.design.plan import EFFECTS
from labapp.studies.factors import Design, effect_labels
from labapp.studies.models import Trial

LARGEST_MODEL = 20_000  # trials; more are for the command line, from the exported rows


def posterior_lines(design: Design, reading: Reading) -> Iterator[PosteriorLine]:
    """Every effect in every group of trials that has all cells of the design."""
    labels = effect_labels(design)
    for group in summary_groups(reading.conditions):
        table = design_table(design, reading.tally, reading.within(group))
        complete = [(name, tuple(cells)) for name, cells in table.items() if all(cell.trials for cell in cells)]
        found = _posterior(tuple(complete), reading.confidence)
        for effect in EFFECTS if found else ():
            numbers = (100 * value for value in found[effect][:3])
            probability, href = found[effect].probability_positive, reading.href(design.arms, group)
            yield PosteriorLine(labels[effect], group.label, *numbers, probability, href)


@lru_cache(maxsize=256)
def _posterior(table: tuple[tuple[str, tuple[Count, ...]], ...], confidence: float) -> dict[str, PosteriorEffect]:
    """Drawn with the command line's seed: the exported rows give the same numbers there."""
    return posterior_effects(dict(table), np.random.default_rng(SEED), confidence)


def progress_lines(reading: Reading) -> tuple[ProgressLine, ...]:
    """How far trials got, every pair of arms with stages; p adjusted over all of them."""
    staged = [(arm, tuple(furthest_stages(arm, reading.tally))) for arm in reading.arms]
    found = [(a, b, _progress(of_a, of_b, reading.confidence)) for (a, of_a), (b, of_b) in combinations(staged, 2)]
    known = [(first, second, graded) for first, second, graded in found if graded is not None]
    adjusted = holm([graded.p for *_, graded in known])
    return tuple(
        ProgressLine(first.name, second.name, *graded[:3], p, reading.href([first, second]))
        for (first, second, graded), p in zip(known, adjusted, strict=True)
    )


@lru_cache(maxsize=1024)
def _progress(first: tuple[int, ...], second: tuple[int, ...], confidence: float) -> Graded | None:
    return compare_stage_counts(first, second, confidence)


def model_sentences(design: Design | None, trials: QuerySet[Trial], confidence: float) -> tuple[str, ...]:
    """The logistic model of the effects with terms for condition, operator and block, in sentences."""
    if design is None:
        return ()
    high = {
        arm.id: [arm.factors[name] == levels[1] for name, levels in zip(design.names, design.levels, strict=True)]
        for cell in design.cells
        for arm in cell
    }
    named = {"who": Coalesce(OPERATOR, Value("")), "in_block": Coalesce(BLOCK, Value(""))}
    ended = scored(trials).filter(arm__in=list(high)).annotate(**named)
    columns = ("arm_id", "is_success_then", "condition__slug", "who", "in_block")
    rows = list(ended.order_by("started_at", "pk").values_list(*columns)[: LARGEST_MODEL + 1])
    if len(rows) > LARGEST_MODEL:
        return (f"No logistic model here for more than {LARGEST_MODEL:,} trials: fit it from the exported rows.",)
    if not rows:
        return ()
    arm_ids, success, condition, operator, block = zip(*rows, strict=True)
    factors = {name: [high[arm][index] for arm in arm_ids] for index, name in enumerate(design.names)}
    terms = {"condition": condition, "operator": operator, "block": block}
    model = logistic_sensitivity(success, factors, terms, confidence)
    return tuple(sensitivity_sentences(model, confidence))
