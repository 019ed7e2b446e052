"""Why trials fail: shares of an arm's trials by failure mode, stacked."""

from collections.abc import Sequence

import plotly.graph_objects as go

from frontend.figures.data import ModeCounts
from frontend.figures.theme import blank, mark, nothing_yet, pattern, theme


def failure_modes(arms: Sequence[ModeCounts], *, theme_name: str = "light") -> go.Figure:
    """One horizontal bar per arm (first on top); its length is the arm's failure share."""
    colors = theme(theme_name)
    shown = [arm for arm in arms if arm.trials]
    modes = list(dict.fromkeys(mode for arm in shown for mode in arm.modes))
    if not modes:
        return nothing_yet(colors, "No failures" if shown else "No scored trials yet")
    figure = blank(colors, barmode="stack", height=120 + 40 * len(shown))
    for index, mode in enumerate(modes):
        counts = [arm.modes.get(mode, 0) for arm in shown]
        look = mark(index, colors)
        figure.add_trace(
            go.Bar(
                name=mode,
                showlegend=True,
                orientation="h",
                y=[arm.arm for arm in shown],
                x=[count / arm.trials for count, arm in zip(counts, shown, strict=True)],
                marker={"color": look.color, "pattern": pattern(look)},
                customdata=[(arm.modes.get(mode, 0), arm.trials, arm.hrefs.get(mode, "")) for arm in shown],
                hovertemplate="%{y}: %{fullData.name} in %{customdata[0]} of %{customdata[1]}<extra></extra>",
            )
        )
    figure.update_layout(legend={"traceorder": "normal"})  # as the bars run; stacked ones would turn it round
    figure.update_xaxes(tickformat=".0%", title="share of trials", rangemode="tozero")
    figure.update_yaxes(autorange="reversed", type="category", showgrid=False)
    return figure
