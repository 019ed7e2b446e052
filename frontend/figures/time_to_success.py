"""How fast trials succeed: the share of an arm's trials that had succeeded by each time."""

from collections.abc import Sequence

import plotly.graph_objects as go

from frontend.figures.data import TimeCurve
from frontend.figures.theme import blank, mark, nothing_yet, theme


def time_to_success(curves: Sequence[TimeCurve], *, theme_name: str = "light") -> go.Figure:
    """One rising step line per arm; it ends at the arm's success rate, so slow and failed are not confused."""
    colors = theme(theme_name)
    shown = [curve for curve in curves if any(curve.share)]
    if not shown:
        return nothing_yet(colors, "No success with a recorded time yet")
    figure = blank(colors)
    for index, curve in enumerate(curves):
        look = mark(index, colors)
        figure.add_trace(
            go.Scatter(
                name=curve.arm,
                mode="lines",
                x=list(curve.seconds),
                y=list(curve.share),
                line={"color": look.color, "dash": look.dash, "width": 2, "shape": "hv"},
                customdata=[curve.href] * len(curve.seconds),
                hovertemplate=f"%{{fullData.name}}: %{{y:.0%}} of {curve.trials} within %{{x:.1f}} s<extra></extra>",
            )
        )
    figure.update_xaxes(title="time from start [s]", rangemode="tozero")
    figure.update_yaxes(range=[0, 1.05], tickformat=".0%", title="succeeded")
    return figure
