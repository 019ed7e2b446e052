"""Success rate by arm and group of trials, bars with intervals."""

from collections.abc import Sequence

import plotly.graph_objects as go

from frontend.figures.data import RatePoint
from frontend.figures.theme import Theme, blank, mark, nothing_yet, pattern, theme


def success_bars(points: Sequence[RatePoint], *, theme_name: str = "light") -> go.Figure:
    """Grouped bars with interval whiskers and n; groups and arms keep their order of appearance."""
    colors = theme(theme_name)
    if not any(point.trials for point in points):
        return nothing_yet(colors, "No scored trials yet")
    figure = blank(colors, barmode="group", bargap=0.25)
    for index, arm in enumerate(dict.fromkeys(point.arm for point in points)):
        figure.add_trace(_bars(arm, [point for point in points if point.arm == arm], index, colors))
    figure.update_yaxes(range=[0, 1.05], tickformat=".0%", title="success")
    return figure


def _bars(arm: str, points: Sequence[RatePoint], index: int, colors: Theme) -> go.Bar:
    shown = [point for point in points if point.rate is not None]
    look = mark(index, colors)
    return go.Bar(
        name=arm,
        x=[point.group for point in shown],
        y=[point.rate for point in shown],
        marker={"color": look.color, "pattern": pattern(look)},
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [point.high - point.rate for point in shown],
            "arrayminus": [point.rate - point.low for point in shown],
            "color": colors.text,
            "thickness": 1.5,
            "width": 4,
        },
        text=[f"n={point.trials}" for point in shown],
        textposition="inside",
        insidetextanchor="start",
        customdata=[(point.successes, point.trials, point.low, point.high, point.href) for point in shown],
        hovertemplate="%{fullData.name}, %{x}<br>%{customdata[0]} of %{customdata[1]}: %{y:.0%}"
        "<br>interval %{customdata[2]:.0%} to %{customdata[3]:.0%}<extra></extra>",
    )
