"""The `queries` object of the results dashboard: access, two aggregates, analysis."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from frontend.dashboards.content import Choice, Content, Counts, PairedLine
from frontend.dashboards.filters import Filters, format_filters
from frontend.dashboards.numbers import utc_minute
from labapp.accounts.models import User
from labapp.results import analysis, effects, resolving, second
from labapp.results.access import current_viewer, visible_study
from labapp.results.checks import find_cautions
from labapp.results.declared import declared_plan, looking_notes, margin_lines
from labapp.results.links import TrialLinks
from labapp.results.looks import looks_card
from labapp.results.paired import paired_lines
from labapp.results.primary import primary_lines
from labapp.results.simulated import newest, simulated_card, version_facts
from labapp.results.since import since_sentence
from labapp.results.tallies import (
    OutcomeGroup,
    TimeGroup,
    outcome_groups,
    selected_trials,
    time_facts,
    time_groups,
    version_of,
)
from labapp.statistics.resolving import ASSUMPTION
from labapp.studies.arms import Arm, study_arms, study_conditions
from labapp.studies.deviations import study_deviations
from labapp.studies.factors import find_design
from labapp.studies.models import Condition, Study, StudyEvent, Trial
from labapp.studies.selectors import sees_names

HIDDEN_EFFECTS = "Effects by factor stay hidden until the PI unblinds the study: they would tell the codes apart."
LOOKS = "looks_csv"
EXPORTS = (
    ("report", "Report"),
    ("table_csv", "Table: CSV"),
    ("table_tex", "LaTeX"),
    ("table_html", "HTML"),
    (LOOKS, "Looks: CSV"),
    ("rows_csv", "Rows: CSV"),
    ("rows_parquet", "Parquet"),
)
NO_DESIGN = "The arms of this study do not form a 2 x 2 design of two factors, so there are no main effects."


class DatabaseQueries:
    """Answers the dashboard for whoever is the current viewer."""

    def choices(self, slug: str) -> tuple[tuple[Choice, ...], tuple[Choice, ...]]:
        """Conditions and arms to filter by."""
        user = current_viewer.get()
        study = visible_study(user, slug)
        arms = study_arms(study, sees_names(user, study))
        return (
            tuple(Choice(c.slug, c.label) for c in study_conditions(study)),
            tuple(Choice(arm.code, arm.name) for arm in arms),
        )

    def content(self, slug: str, filters: Filters) -> Content:
        """A study's results page."""
        user = current_viewer.get()
        return study_content(visible_study(user, slug), user, filters)

    def checks(self, slug: str, filters: Filters) -> tuple[str, ...]:
        """Drift, operators and duplicates, from aggregates over the trials."""
        study = visible_study(current_viewer.get(), slug)
        return find_cautions(selected_trials(study, filters))

    def sensitivity(self, slug: str, filters: Filters) -> tuple[str, ...]:
        """The logistic model's view of the effects."""
        user = current_viewer.get()
        return study_sensitivity(visible_study(user, slug), user, filters)

    def data_version(self, slug: str, filters: Filters) -> str:
        """Version of the counts that the page would show now."""
        study = visible_study(current_viewer.get(), slug)
        trials = selected_trials(study, filters)
        facts = [*outcome_groups(trials), *time_facts(time_groups(trials))]
        return version_of([*facts, *version_facts(newest(study, filters))])


def study_content(study: Study, user: User, filters: Filters) -> Content:
    """Everything on the page, from two aggregates over the trials and three small look-ups."""
    read_at = filters.until or timezone.now()
    with_names = sees_names(user, study)
    trials = selected_trials(study, filters)
    groups = outcome_groups(trials)
    tally = analysis.Tally(groups)
    every_arm = study_arms(study, with_names, filters.until)
    arms = [arm for arm in every_arm if not filters.arms or arm.code in filters.arms]
    every_condition = study_conditions(study)
    conditions = [c for c in every_condition if not filters.conditions or c.slug in filters.conditions]
    columns = analysis.table_groups(conditions)
    is_simulated = study.is_simulated or bool(study.cell and study.cell.is_simulated)
    links, slugs = TrialLinks.of(study, filters.until), [c.slug for c in conditions]
    effect_fields = _effects(arms, conditions, tally, filters.confidence, links, with_names)
    times = time_groups(trials)
    pairs, letters, test = analysis.comparisons(arms, conditions, tally, filters.confidence, links)
    latencies = analysis.latencies(times)
    plan, evaluation = declared_plan(study), newest(study, filters)
    looks = looks_card(study, every_arm, plan, filters, with_names)
    notes = (
        *looking_notes(study, plan, filters.until),
        *_deviations(study, filters.until),
        *analysis.cautions(arms, conditions, groups),
        *effect_fields.pop("notes", ()),
    )
    return Content(
        slug=study.slug,
        name=study.name,
        is_simulated=is_simulated,
        is_blinded=study.is_blinded,
        shows_names=with_names,
        data_version=version_of([*groups, *time_facts(times), *version_facts(evaluation)]),
        read_at=read_at,
        since=since_sentence(study, filters),
        counts=_counts(groups, links, arms, slugs),
        columns=tuple(group.label for group in columns),
        rows=analysis.table_rows(arms, columns, tally, filters.confidence, is_simulated, links, letters, latencies),
        comparisons=resolving.pairs_to_resolve(pairs, arms, conditions, tally, filters.confidence),
        comparison_test=test,
        comparison_note=ASSUMPTION,
        primary=primary_lines(study, plan, every_arm, every_condition, filters, tally) if with_names else (),
        margins=margin_lines(plan, arms, conditions, tally, links) if with_names else (),
        paired=_paired(study, arms, trials, filters.confidence, lambda pair: links.to(pair, slugs)),
        looks=looks,
        simulated=simulated_card(study, evaluation, user, arms, conditions, tally, filters),
        exports=_exports(study, filters, with_looks=looks is not None),
        notes=notes,
        **_how_trials_end(arms, conditions, times, tally, filters.confidence, links),
        **effect_fields,
    )


def study_sensitivity(study: Study, user: User, filters: Filters) -> tuple[str, ...]:
    """The effects once more by a logistic model; nothing while codes stand for policies."""
    if not sees_names(user, study):
        return ()
    arms = [arm for arm in study_arms(study, with_names=True) if not filters.arms or arm.code in filters.arms]
    return second.model_sentences(find_design(arms), selected_trials(study, filters), filters.confidence)


def _paired(
    study: Study, arms: Sequence[Arm], trials: QuerySet[Trial], confidence: float, to_trials: Callable[..., str]
) -> tuple[PairedLine, ...]:
    return resolving.paired_to_resolve(paired_lines(study, arms, trials, confidence, to_trials), confidence)


def _how_trials_end(
    arms: Sequence[Arm],
    conditions: Sequence[Condition],
    times: Sequence[TimeGroup],
    tally: analysis.Tally,
    confidence: float,
    links: TrialLinks,
) -> dict[str, Any]:
    """Rates, stages, failure modes and times, for the figures and who gets further."""
    return {
        "bars": analysis.rate_points(arms, analysis.summary_groups(conditions), tally, confidence, links),
        "stages": analysis.stage_curves(arms, conditions, tally, links),
        "progress": second.progress_lines(arms, conditions, tally, confidence, links),
        "modes": analysis.mode_counts(arms, conditions, tally, links),
        "times": analysis.time_curves(arms, conditions, times, tally, links),
    }


def _effects(
    arms: Sequence[Arm],
    conditions: Sequence[Condition],
    tally: analysis.Tally,
    confidence: float,
    links: TrialLinks,
    with_names: bool,
) -> dict[str, Any]:
    if not with_names:
        return {"effects_missing": HIDDEN_EFFECTS}
    design = find_design(arms)
    if design is None:
        return {"effects_missing": NO_DESIGN}
    lines, notes = effects.effect_lines(design, tally, conditions, confidence, links)
    if any(len(cell) > 1 for cell in design.cells):
        notes = (*notes, "Some cells of the design hold several arms; effects add their trials up.")
    return {
        "effects": resolving.effects_to_resolve(lines, design, conditions, tally, confidence),
        "posterior": second.posterior_lines(design, tally, conditions, confidence, links),
        "cell_means": effects.cell_means(design, tally, conditions, confidence, links),
        "factor_names": design.names,
        "notes": notes,
    }


def _counts(groups: Sequence[OutcomeGroup], links: TrialLinks, arms: Sequence[Arm], slugs: Sequence[str]) -> Counts:
    def total(*statuses: str) -> int:
        return sum(group.trials for group in groups if group.status in statuses)

    status = Trial.Status
    return Counts(
        total(status.CONFIRMED),
        total(status.RUNNING, status.PROPOSED),
        total(status.INVALID),
        links.to(arms, slugs),
        links.to(arms, slugs, status=status.INVALID.value),
    )


def _deviations(study: Study, until: datetime | None) -> tuple[str, ...]:
    """Unblinding before the study finished and everything else that went otherwise than planned by then, as notes."""
    notes, unblinded_at = [], study.unblinded_at
    is_early = unblinded_at and (not study.finished_at or unblinded_at < study.finished_at)
    if is_early and (until is None or unblinded_at <= until) and not study.is_imported:
        notes.append(f"Unblinded on {utc_minute(unblinded_at)}, before the study finished.")
    others = [d for d in study_deviations(study, until) if d.kind != StudyEvent.Kind.UNBLINDED]
    return (*notes, *(f"Deviation: {deviation}." for deviation in others))


def _exports(study: Study, filters: Filters, with_looks: bool) -> tuple[Choice, ...]:
    query, offered = format_filters(filters), [export for export in EXPORTS if with_looks or export[0] != LOOKS]
    return tuple(Choice(reverse(f"results:{name}", args=[study.slug]) + query, label) for name, label in offered)
