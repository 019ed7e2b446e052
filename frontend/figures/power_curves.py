"""Power over the number of trials per arm, one curve per comparison."""

from collections.abc import Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from frontend.figures.theme import Theme, blank, mark, nothing_yet, theme

FEW_CURVES = 4


class PowerCurve(NamedTuple):
    """Power of one comparison at rising numbers of trials per arm; `beside` is drawn faintly, in the same colour."""

    label: str
    points: tuple[tuple[int, float], ...]
    beside: tuple[tuple[int, float], ...] = ()


def power_curves(
    curves: Sequence[PowerCurve], *, planned: int = 0, target: float = 0.8, theme_name: str = "light"
) -> go.Figure:
    """Curves with the wanted power as a level line and the planned number of trials as an upright one."""
    colors = theme(theme_name)
    if not curves:
        return nothing_yet(colors, "Nothing to compare yet")
    beside = {"orientation": "v", "x": 1.02, "y": 1, "yanchor": "top"}
    figure = blank(colors, height=320 if len(curves) <= FEW_CURVES else 400)
    figure.update_layout(legend=beside if len(curves) > FEW_CURVES else {})
    for index, curve in enumerate(curves):
        look = mark(index, colors)
        figure.add_trace(
            go.Scatter(
                name=curve.label,
                mode="lines",
                x=[n for n, _ in curve.points],
                y=[power for _, power in curve.points],
                line={"color": look.color, "dash": look.dash, "width": 2},
                hovertemplate="%{fullData.name}<br>%{x} trials per arm: power %{y:.2f}<extra></extra>",
            )
        )
        if curve.beside:
            figure.add_trace(_beside(curve, look.color))
    figure.add_hline(y=target, line={"color": colors.zero, "width": 1, "dash": "dot"})
    if planned:
        _planned_line(figure, planned, colors)
    figure.update_xaxes(title="trials per arm", rangemode="tozero")
    figure.update_yaxes(range=[0, 1.02], title="power", tickformat=".1f")
    return figure


def _beside(curve: PowerCurve, color: str) -> go.Scatter:
    return go.Scatter(
        mode="lines",
        x=[n for n, _ in curve.beside],
        y=[power for _, power in curve.beside],
        line={"color": color, "dash": "dot", "width": 1},
        opacity=0.6,
        showlegend=False,
        hovertemplate=f"{curve.label}, one look at the end<br>%{{x}} trials per arm: power %{{y:.2f}}<extra></extra>",
    )


def _planned_line(figure: go.Figure, planned: int, colors: Theme) -> None:
    figure.add_vline(
        x=planned,
        line={"color": colors.zero, "width": 1, "dash": "dot"},
        annotation={"text": f"planned: {planned}", "yref": "paper", "y": 0.02, "xanchor": "left", "yanchor": "bottom"},
    )
