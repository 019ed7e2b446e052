"""The `queries` object of the results dashboard: access, two aggregates, analysis."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils import timezone

from frontend.dashboards.content import Choice, Content, Counts
from frontend.dashboards.filters import Filters, format_filters
from frontend.dashboards.numbers import utc_minute
from labapp.accounts.models import User
from labapp.evaluations.models import Evaluation
from labapp.results import analysis, effects, resolving, second
from labapp.results.access import current_viewer, visible_study
from labapp.results.checks import find_cautions
from labapp.results.declared import declared_plan, looking_notes, margin_lines
from labapp.results.links import TrialLinks
from labapp.results.looks import looks_card, looks_facts
from labapp.results.paired import paired_lines
from labapp.results.primary import primary_lines
from labapp.results.reading import Reading, Tally, summary_groups, table_groups
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
from labapp.studies.arms import study_arms, study_conditions
from labapp.studies.deviations import study_deviations
from labapp.studies.factors import find_design
from labapp.studies.models import Study, StudyEvent, Trial
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
        return _version(study, filters, outcome_groups(trials), time_groups(trials), newest(study, filters))


def study_content(study: Study, user: User, filters: Filters) -> Content:
    """Everything on the page, from two aggregates over the trials and three small look-ups."""
    read_at, with_names = filters.until or timezone.now(), sees_names(user, study)
    trials = selected_trials(study, filters)
    groups, times = outcome_groups(trials), time_groups(trials)
    whole = _whole(study, with_names, filters, Tally(groups))
    reading = _chosen(whole, filters)
    is_simulated = study.is_simulated or bool(study.cell and study.cell.is_simulated)
    plan, evaluation = declared_plan(study), newest(study, filters)
    pairs, letters, test = analysis.comparisons(reading)
    columns = table_groups(reading.conditions)
    looks = looks_card(study, whole.arms, plan, filters, with_names)
    effects_fields = _effects(reading, with_names)
    notes = (
        *looking_notes(study, plan, filters.until),
        *_deviations(study, filters.until),
        *analysis.cautions(reading, groups),
        *effects_fields.pop("notes", ()),
    )
    return Content(
        slug=study.slug,
        name=study.name,
        is_simulated=is_simulated,
        is_blinded=study.is_blinded,
        shows_names=with_names,
        data_version=_version(study, filters, groups, times, evaluation),
        read_at=read_at,
        since=since_sentence(study, filters),
        counts=_counts(groups, reading),
        columns=tuple(group.label for group in columns),
        rows=analysis.table_rows(reading, columns, is_simulated, letters, analysis.latencies(times)),
        comparisons=resolving.pairs_to_resolve(pairs, reading),
        comparison_test=test,
        comparison_note=ASSUMPTION,
        primary=primary_lines(study, plan, filters, whole) if with_names else (),
        margins=margin_lines(plan, reading) if with_names else (),
        paired=resolving.paired_to_resolve(paired_lines(study, trials, reading), filters.confidence),
        looks=looks,
        simulated=simulated_card(study, evaluation, user, reading, filters),
        exports=_exports(study, filters, with_looks=looks is not None),
        notes=notes,
        **_how_trials_end(reading, times),
        **effects_fields,
    )


def _version(
    study: Study,
    filters: Filters,
    groups: Sequence[OutcomeGroup],
    times: Sequence[TimeGroup],
    evaluation: Evaluation | None,
) -> str:
    """Of everything that the page's numbers follow from."""
    looks = looks_facts(study, declared_plan(study), filters.until)
    return version_of([*groups, *time_facts(times), *version_facts(evaluation), *looks])


def _whole(study: Study, with_names: bool, filters: Filters, tally: Tally) -> Reading:
    """All arms and conditions of the study, with the trials that the filters leave."""
    arms, conditions = study_arms(study, with_names, filters.until), study_conditions(study)
    return Reading(tuple(arms), tuple(conditions), tally, filters.confidence, TrialLinks.of(study, filters.until))


def _chosen(whole: Reading, filters: Filters) -> Reading:
    """The arms and conditions that the filters leave."""
    arms = tuple(arm for arm in whole.arms if not filters.arms or arm.code in filters.arms)
    conditions = tuple(c for c in whole.conditions if not filters.conditions or c.slug in filters.conditions)
    return replace(whole, arms=arms, conditions=conditions)


def study_sensitivity(study: Study, user: User, filters: Filters) -> tuple[str, ...]:
    """The effects once more by a logistic model; nothing while codes stand for policies."""
    if not sees_names(user, study):
        return ()
    arms = [arm for arm in study_arms(study, with_names=True) if not filters.arms or arm.code in filters.arms]
    return second.model_sentences(find_design(arms), selected_trials(study, filters), filters.confidence)


def _how_trials_end(reading: Reading, times: Sequence[TimeGroup]) -> dict[str, Any]:
    """Rates, stages, failure modes and times, for the figures and who gets further."""
    return {
        "bars": analysis.rate_points(reading, summary_groups(reading.conditions)),
        "stages": tuple(analysis.stage_curves(reading)),
        "progress": second.progress_lines(reading),
        "modes": tuple(analysis.mode_counts(reading)),
        "times": tuple(analysis.time_curves(reading, times)),
    }


def _effects(reading: Reading, with_names: bool) -> dict[str, Any]:
    if not with_names:
        return {"effects_missing": HIDDEN_EFFECTS}
    design = find_design(reading.arms)
    if design is None:
        return {"effects_missing": NO_DESIGN}
    lines, notes = effects.effect_lines(design, reading)
    return {
        "effects": resolving.effects_to_resolve(lines, design, reading),
        "posterior": tuple(second.posterior_lines(design, reading)),
        "cell_means": tuple(effects.cell_means(design, reading)),
        "factor_names": design.names,
        "notes": notes,
    }


def _counts(groups: Sequence[OutcomeGroup], reading: Reading) -> Counts:
    def total(status: str) -> int:
        return sum(group.trials for group in groups if group.status == status)

    status = Trial.Status
    return Counts(
        total(status.CONFIRMED),
        total(status.RUNNING),
        total(status.INVALID),
        reading.href(reading.arms),
        reading.href(reading.arms, status=status.INVALID.value),
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
