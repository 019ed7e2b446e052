"""One self-contained HTML file: table, figures, effects, plan, deviations, hashes. It opens without a network."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from frontend import figures
from frontend.dashboards.content import Content
from frontend.dashboards.filters import Filters, format_filters
from frontend.dashboards.looks import looks_figure
from labapp.results.tables import html_table
from labapp.studies.models import Study


def report_html(study: Study, content: Content, filters: Filters, cautions: Sequence[str], now: datetime) -> str:
    """The report of what the page shows under these filters at this moment."""
    context = {
        "study": study,
        "content": content,
        "confidence": f"{100 * filters.confidence:g}",
        "filters": format_filters(filters) or "none",
        "table": html_table(content),
        "figures": _figures(content),
        "cautions": [*content.notes, *cautions],
        "plan": json.dumps(study.analysis_plan, indent=2) if study.analysis_plan else "",
        "events": study.events.select_related("actor").order_by("created_at"),
        "now": now,
    }
    return render_to_string("results/report.html", context)


def _figures(content: Content) -> list[tuple[str, SafeString]]:
    """Titles and HTML of the figures; the first carries the one copy of Plotly's script."""
    a, b = content.factor_names
    drawn: list[tuple[str, Any]] = [("Success", figures.success_bars(content.bars))]
    if content.effects:
        points = [line.point for line in content.effects]
        drawn.append(("Main effects and interaction", figures.effects_forest(points)))
        drawn.append(("Interaction", figures.interaction_plot(content.cell_means, a_name=a, b_name=b)))
    if content.looks and content.looks.comparisons:
        drawn.append((f"Looks: {content.looks.rule}", looks_figure(content.looks.comparisons, "light")))
    if content.simulated and content.simulated.lines:
        drawn.append(("Simulated beside real", figures.sim_beside_real(content.simulated.figure_pairs)))
    drawn.append(("Failure modes", figures.failure_modes(content.modes)))
    drawn.append(("Stages reached", figures.stage_funnel(content.stages)))
    drawn.append(("Time to success", figures.time_to_success(content.times)))
    return [
        (title, mark_safe(figure.to_html(full_html=False, include_plotlyjs=index == 0, config={"displaylogo": False})))
        for index, (title, figure) in enumerate(drawn)
    ]
