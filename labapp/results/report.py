"""One self-contained HTML file: table, figures, effects, plan, deviations, hashes. It opens without a network."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from frontend.dashboards.content import Content
from frontend.dashboards.drawn import all_figures
from frontend.dashboards.filters import Filters, format_filters
from labapp.results.tables import html_table
from labapp.studies.arms import Arm, study_arms
from labapp.studies.design.selectors import plan_in_words
from labapp.studies.deviations import study_deviations
from labapp.studies.importing.source import import_of
from labapp.studies.models import Study, StudyEvent

# What a plan says of single arms: with codes for names it would tell the codes apart.
TELLING = ("Primary comparisons", "Margins", "Assumed rates", "As recorded")
HIDDEN = "hidden until the study is unblinded"


def report_html(
    study: Study, content: Content, filters: Filters, cautions: Sequence[str], model: Sequence[str], now: datetime
) -> str:
    """The report of what the page shows under these filters at this moment.

    Args:
        cautions: drift, operators, duplicates.
        model: the logistic model in sentences.
    """
    arms = study_arms(study, content.shows_names, filters.until)
    context = {
        "study": study,
        "content": content,
        "imported": import_of(study),
        "question": study.question if content.shows_names else "",
        "confidence": f"{100 * filters.confidence:g}",
        "filters": format_filters(filters) or "none",
        "table": html_table(content),
        "figures": _figures(content),
        "cautions": [*content.notes, *cautions],
        "model": model,
        "plan": _plan(study, arms, content.shows_names),
        "deviations": study_deviations(study, filters.until),
        "events": _events(study, filters.until),
        "checkpoints": _checkpoints(study) if content.shows_names else [],
        "commands": _commands(content, filters),
        "now": now,
    }
    return render_to_string("results/report.html", context)


def _events(study: Study, until: datetime | None) -> QuerySet[StudyEvent]:
    events = study.events.select_related("actor").order_by("pk")
    return events.filter(created_at__lte=until) if until else events


def _plan(study: Study, arms: Sequence[Arm], shows_names: bool) -> list[tuple[str, str]]:
    if not study.analysis_plan:
        return []
    facts = plan_in_words(study, arms)
    return [(name, text if shows_names or name not in TELLING else HIDDEN) for name, text in facts]


def _checkpoints(study: Study) -> list[tuple[str, str]]:
    """Arms with the hash of the weights that ran."""
    arms = study.arms.select_related("checkpoint").exclude(checkpoint=None).order_by("code")
    return [(f"{arm.code}: {arm.label}", arm.checkpoint.sha256) for arm in arms]


def _commands(content: Content, filters: Filters) -> list[str]:
    """Command lines that give the numbers again from the exported rows."""
    confidence = "" if filters.confidence == 0.95 else f" --confidence {filters.confidence:g}"
    start = f"python -m labapp.statistics {{}} {content.slug}-trials.csv"
    commands = [f"{start.format('compare')} --arm arm --outcome success{confidence}"]
    if content.effects:
        factors = ",".join(content.factor_names)
        commands.append(
            f"{start.format('factorial')} --factors {factors} --outcome success --stratum condition "
            f"--terms condition,operator,block{confidence}"
        )
    if content.looks and content.looks.command:
        commands.append(content.looks.command)
    return commands


def _figures(content: Content) -> list[tuple[str, SafeString]]:
    """Titles and HTML of the figures; the first carries the one copy of Plotly's script."""
    config: dict[str, Any] = {"displaylogo": False, "displayModeBar": False, "responsive": True}
    return [
        (title, mark_safe(figure.to_html(full_html=False, include_plotlyjs=index == 0, config=config)))
        for index, (_, title, figure) in enumerate(all_figures(content, "light"))
    ]
