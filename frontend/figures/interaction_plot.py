"""Cell means of the 2 x 2 design: parallel lines mean no interaction."""

from collections.abc import Sequence

import plotly.graph_objects as go

from frontend.figures.data import CellMean
from frontend.figures.theme import blank, mark, nothing_yet, theme


def interaction_plot(
    cells: Sequence[CellMean], *, a_name: str = "world", b_name: str = "behavior", theme_name: str = "light"
) -> go.Figure:
    """One line per level of factor B over the levels of factor A, with intervals."""
    colors = theme(theme_name)
    if not cells:
        return nothing_yet(colors, "No cell of the design has a trial yet")
    figure = blank(colors)
    for index, level in enumerate(dict.fromkeys(cell.b_level for cell in cells)):
        line = [cell for cell in cells if cell.b_level == level]
        look = mark(index, colors)
        figure.add_trace(
            go.Scatter(
                name=f"{b_name} {level}",
                mode="lines+markers",
                x=[cell.a_level for cell in line],
                y=[cell.rate for cell in line],
                line={"color": look.color, "dash": look.dash, "width": 2},
                marker={"color": look.color, "symbol": look.symbol, "size": 10},
                error_y={
                    "type": "data",
                    "symmetric": False,
                    "array": [cell.high - cell.rate for cell in line],
                    "arrayminus": [cell.rate - cell.low for cell in line],
                    "thickness": 1.5,
                    "width": 4,
                },
                customdata=[cell.href for cell in line],
                hovertemplate=f"{a_name} %{{x}}, %{{fullData.name}}: %{{y:.0%}}<extra></extra>",
            )
        )
    figure.update_xaxes(title=a_name, type="category")
    figure.update_yaxes(range=[0, 1.05], tickformat=".0%", title="success")
    return figure
