"""Effects in points with their intervals, one row each, around a zero line."""

from collections.abc import Sequence

import plotly.graph_objects as go

from frontend.figures.data import EffectPoint
from frontend.figures.theme import Theme, blank, mark, nothing_yet, theme

ROW_HEIGHT = 34


def effects_forest(effects: Sequence[EffectPoint], *, theme_name: str = "light") -> go.Figure:
    """Forest plot: rows are effects from top to bottom, groups of trials beside each other within a row."""
    colors = theme(theme_name)
    if not effects:
        return nothing_yet(colors, "No effect can be estimated yet: every cell of the design needs a trial")
    names = list(dict.fromkeys(effect.effect for effect in effects))
    groups = list(dict.fromkeys(effect.group for effect in effects))
    figure = blank(colors, height=110 + ROW_HEIGHT * max(len(effects), 3))
    for index, group in enumerate(groups):
        rows = [effect for effect in effects if effect.group == group]
        figure.add_trace(_row(group, rows, names, (index - (len(groups) - 1) / 2) * -0.22, index, colors))
    figure.add_vline(x=0, line={"color": colors.zero, "width": 1})
    figure.update_xaxes(title="effect on success [points]", zeroline=False)
    figure.update_yaxes(
        tickvals=list(range(len(names))), ticktext=names[::-1], range=[-0.6, len(names) - 0.4], showgrid=False
    )
    return figure


def _row(
    group: str, rows: Sequence[EffectPoint], names: Sequence[str], offset: float, index: int, colors: Theme
) -> go.Scatter:
    look = mark(index, colors)
    return go.Scatter(
        name=group,
        mode="markers",
        x=[row.points for row in rows],
        y=[len(names) - 1 - names.index(row.effect) + offset for row in rows],
        marker={"color": look.color, "symbol": look.symbol, "size": 10},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [row.high - row.points for row in rows],
            "arrayminus": [row.points - row.low for row in rows],
            "thickness": 2,
            "width": 0,
        },
        customdata=[(row.effect, row.low, row.high, row.href) for row in rows],
        hovertemplate="%{customdata[0]}, %{fullData.name}<br>%{x:+.1f} points"
        "<br>interval %{customdata[1]:+.1f} to %{customdata[2]:+.1f}<extra></extra>",
    )
