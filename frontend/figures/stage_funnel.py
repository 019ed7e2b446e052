"""How far trials get: the share of an arm's trials that reached each stage."""

from collections.abc import Sequence

import plotly.graph_objects as go

from frontend.figures.data import STAGES, StageCurve
from frontend.figures.theme import blank, mark, nothing_yet, theme


def stage_funnel(curves: Sequence[StageCurve], *, theme_name: str = "light") -> go.Figure:
    """One falling line per arm over the stages in their order.

    Raises:
        ValueError: where a curve does not have one share per stage.
    """
    colors = theme(theme_name)
    for curve in curves:
        if len(curve.reached) != len(STAGES):
            raise ValueError(f"arm {curve.arm}: {len(curve.reached)} shares for {len(STAGES)} stages")
    if not curves:
        return nothing_yet(colors, "No trial has a stage yet")
    figure = blank(colors)
    for index, curve in enumerate(curves):
        look = mark(index, colors)
        figure.add_trace(
            go.Scatter(
                name=curve.arm,
                mode="lines+markers",
                x=list(STAGES),
                y=list(curve.reached),
                line={"color": look.color, "dash": look.dash, "width": 2},
                marker={"color": look.color, "symbol": look.symbol, "size": 8},
                customdata=list(curve.hrefs) or None,
                hovertemplate=f"%{{fullData.name}}: %{{y:.0%}} of {curve.trials} reached %{{x}}<extra></extra>",
            )
        )
    figure.update_xaxes(title="stage reached", type="category")
    figure.update_yaxes(range=[0, 1.05], tickformat=".0%", title="share of trials")
    return figure
