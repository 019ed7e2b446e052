"""Simulated against real success, one mark an arm, with both intervals and the diagonal of perfect foresight."""

from collections.abc import Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from frontend.figures.data import RatePair, RatePoint
from frontend.figures.theme import Theme, blank, mark, nothing_yet, theme

RANGE = [-0.03, 1.03]
TICKS = [0, 0.5, 1]


def sim_beside_real(pairs: Sequence[RatePair], *, theme_name: str = "light") -> go.Figure:
    """One square panel for each group of conditions; arms keep their look across panels."""
    colors = theme(theme_name)
    shown = [pair for pair in pairs if pair.simulated.rate is not None and pair.real.rate is not None]
    if not shown:
        return nothing_yet(colors, "No arm has both simulated and real trials yet")
    groups = list(dict.fromkeys(pair.real.group for pair in shown))
    arms = list(dict.fromkeys(pair.real.arm for pair in pairs))
    figure = make_subplots(
        rows=1, cols=len(groups), subplot_titles=[group.capitalize() for group in groups], horizontal_spacing=0.06
    )
    figure.update_layout(**_layout(colors))
    named: set[str] = set()
    for column, group in enumerate(groups, start=1):
        _diagonal(figure, column, colors)
        for pair in (pair for pair in shown if pair.real.group == group):
            is_first = pair.real.arm not in named
            named.add(pair.real.arm)
            figure.add_trace(_point(pair, arms.index(pair.real.arm), is_first, colors), row=1, col=column)
        _axes(figure, column, colors)
    return figure


def _layout(colors: Theme) -> dict[str, object]:
    """The theme's layout without its axes: every panel has its own."""
    layout = blank(colors, height=380).layout.to_plotly_json()
    kept = {name: value for name, value in layout.items() if not name.startswith(("xaxis", "yaxis"))}
    legend = {"orientation": "h", "y": 1.12, "yanchor": "bottom", "x": 0}
    return kept | {"legend": legend, "margin": {"t": 70, "b": 48, "l": 56, "r": 12}}


def _axes(figure: go.Figure, column: int, colors: Theme) -> None:
    look = {"range": RANGE, "tickformat": ".0%", "gridcolor": colors.grid, "zeroline": False, "automargin": True}
    look |= {"linecolor": colors.grid, "constrain": "domain", "tickvals": TICKS, "tickangle": 0}
    figure.update_xaxes(title="in simulation", row=1, col=column, **look)
    title = "in real trials" if column == 1 else None
    anchor = "x" if column == 1 else f"x{column}"
    figure.update_yaxes(title=title, row=1, col=column, scaleanchor=anchor, showticklabels=column == 1, **look)


def _diagonal(figure: go.Figure, column: int, colors: Theme) -> None:
    line = {"color": colors.zero, "width": 1, "dash": "dot"}
    trace = go.Scatter(x=[0, 1], y=[0, 1], mode="lines", line=line, showlegend=False, hoverinfo="skip")
    figure.add_trace(trace, row=1, col=column)


def _point(pair: RatePair, index: int, is_first: bool, colors: Theme) -> go.Scatter:
    look, simulated, real = mark(index, colors), pair.simulated, pair.real
    counts = (simulated.successes, simulated.trials, real.successes, real.trials)
    return go.Scatter(
        name=real.arm,
        legendgroup=real.arm,
        showlegend=is_first,
        mode="markers",
        x=[simulated.rate],
        y=[real.rate],
        error_x=_whisker(simulated, look.color),
        error_y=_whisker(real, look.color),
        marker={"color": look.color, "symbol": look.symbol, "size": 12},
        customdata=[(*counts, simulated.low, simulated.high, real.low, real.high, simulated.href)],
        hovertemplate="%{fullData.name}<br>simulated %{customdata[0]} of %{customdata[1]}: %{x:.0%}"
        " (%{customdata[4]:.0%} to %{customdata[5]:.0%})<br>real %{customdata[2]} of %{customdata[3]}: %{y:.0%}"
        " (%{customdata[6]:.0%} to %{customdata[7]:.0%})<extra></extra>",
    )


def _whisker(point: RatePoint, color: str) -> dict[str, object]:
    return {
        "type": "data",
        "symmetric": False,
        "array": [point.high - point.rate],
        "arrayminus": [point.rate - point.low],
        "color": color,
        "thickness": 1.5,
        "width": 0,
    }
