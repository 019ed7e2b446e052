"""Planned looks and confidence sequences, one small panel per comparison."""

from collections.abc import Sequence
from math import ceil

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from frontend.figures.data import CoursePath, LookPath
from frontend.figures.theme import Theme, blank, nothing_yet, theme

COLUMNS = 3
PANEL_HEIGHT, HEAD = 190, 70
LARGEST_Z = 6.0  # boundaries of early looks may lie far outside; they are drawn at the edge
ROOM = 1.15


def look_paths(paths: Sequence[LookPath], *, theme_name: str = "light") -> go.Figure:
    """z of each comparison at its looks, between the boundaries; beyond them lies the region that stops it."""
    colors = theme(theme_name)
    if not paths:
        return nothing_yet(colors, "Nothing to compare")
    largest = max(abs(z or 0) for path in paths for z in (*path.zs, *path.boundaries, 1))
    top = ROOM * min(LARGEST_Z, largest)
    end = max(path.look_blocks[-1] for path in paths)
    figure = _panels([path.label for path in paths], "z", colors)
    for index, path in enumerate(paths):
        for trace in (*_stop_regions(path, top, colors), _looked(path, top, colors)):
            _add(figure, trace, index, len(paths))
    figure.update_xaxes(range=[0, end * 1.04])
    figure.update_yaxes(range=[-top, top])
    return figure


def course_paths(paths: Sequence[CoursePath], *, theme_name: str = "light") -> go.Figure:
    """Confidence sequence of each comparison along the blocks, in points; it decides where it leaves the zero line."""
    colors = theme(theme_name)
    if not any(path.blocks for path in paths):
        return nothing_yet(colors, "The sequences begin with the first finished block")
    figure = _panels([path.label for path in paths], "points", colors)
    for index, path in enumerate(paths):
        for trace in _band(path, colors):
            _add(figure, trace, index, len(paths))
    widest = max(max(map(abs, (*path.lows, *path.highs)), default=0) for path in paths)
    figure.update_xaxes(range=[0, 1.04 * max(path.blocks[-1] for path in paths if path.blocks)])
    figure.update_yaxes(range=[-ROOM * widest, ROOM * widest])
    return figure


def _panels(labels: Sequence[str], unit: str, colors: Theme) -> go.Figure:
    columns, rows = _grid(len(labels))
    gap = min(0.16, 0.34 / rows)
    figure = make_subplots(rows, columns, subplot_titles=labels, vertical_spacing=gap, horizontal_spacing=0.06)
    shared = blank(colors, height=HEAD + PANEL_HEIGHT * rows, showlegend=False).layout
    figure.update_layout(template="none", **{name: shared[name] for name in _SHARED})
    axis = {"gridcolor": colors.grid, "linecolor": colors.grid, "automargin": True}
    figure.update_xaxes(**axis, zeroline=False, showgrid=False, nticks=6)
    figure.update_yaxes(**axis, zeroline=True, zerolinecolor=colors.zero, nticks=6)
    figure.update_yaxes(title=_title(unit), col=1)
    for column in range(1, columns + 1):
        figure.update_xaxes(title=_title("blocks"), row=ceil((len(labels) - column + 1) / columns) or 1, col=column)
    figure.update_annotations(font={"size": 13, "color": colors.text})
    return figure


def _title(text: str) -> dict[str, object]:
    return {"text": text, "font": {"size": 13}, "standoff": 6}


_SHARED = ("paper_bgcolor", "plot_bgcolor", "font", "margin", "height", "showlegend")


def _grid(panels: int) -> tuple[int, int]:
    columns = min(COLUMNS, panels)
    return columns, ceil(panels / columns)


def _add(figure: go.Figure, trace: go.Scatter, index: int, panels: int) -> None:
    columns, _ = _grid(panels)
    figure.add_trace(trace, row=index // columns + 1, col=index % columns + 1)


def _stop_regions(path: LookPath, top: float, colors: Theme) -> list[go.Scatter]:
    """Both boundaries, each with the region beyond it shaded to the edge of the panel."""
    blocks = path.look_blocks[: len(path.boundaries)]
    edges = [min(boundary, top) for boundary in path.boundaries]
    return [
        go.Scatter(
            mode="lines",
            x=[*blocks, *blocks[::-1], blocks[0]],
            y=[sign * y for y in (*edges, *([top] * len(blocks)), edges[0])],
            fill="toself",
            fillcolor=_faded(colors.series[2], 0.16),
            line={"color": colors.series[2], "width": 1.2, "dash": "dot"},
            hoverinfo="skip",
        )
        for sign in (1, -1)
    ]


def _looked(path: LookPath, top: float, colors: Theme) -> go.Scatter:
    """z at the looks that were reached; the one that crossed is a star."""
    reached = [
        (block, z, boundary)
        for block, z, boundary in zip(path.look_blocks, path.zs, path.boundaries, strict=False)
        if z is not None
    ]
    crossed = [block == path.crossed_block for block, *_ in reached]
    return go.Scatter(
        mode="lines+markers",
        name=path.label,
        x=[block for block, *_ in reached],
        y=[max(-top, min(z, top)) for _, z, _ in reached],
        line={"color": colors.series[0], "width": 2},
        marker={
            "color": [colors.series[int(is_crossed)] for is_crossed in crossed],
            "opacity": 1,
            "size": [15 if is_crossed else 9 for is_crossed in crossed],
            "symbol": ["star" if is_crossed else "circle" for is_crossed in crossed],
        },
        customdata=[(z, boundary) for _, z, boundary in reached],
        hovertemplate="after block %{x}: z = %{customdata[0]:+.2f}, boundary %{customdata[1]:.2f}<extra></extra>",
    )


def _band(path: CoursePath, colors: Theme) -> list[go.Scatter]:
    """Lower bound, upper bound filled down to it, running estimate, and a star where the sequence decided."""
    x, bound = (
        list(path.blocks),
        {"mode": "lines", "line": {"color": colors.series[0], "width": 1}, "hoverinfo": "skip"},
    )
    traces = [
        go.Scatter(x=x, y=list(path.lows), **bound),
        go.Scatter(x=x, y=list(path.highs), fill="tonexty", fillcolor=_faded(colors.series[0], 0.16), **bound),
        go.Scatter(
            name=path.label,
            mode="lines",
            x=x,
            y=list(path.estimates),
            line={"color": colors.series[0], "width": 2},
            customdata=list(zip(path.lows, path.highs, strict=True)),
            hovertemplate="block %{x}: %{y:+.1f} points<br>"
            "%{customdata[0]:+.1f} to %{customdata[1]:+.1f}<extra></extra>",
        ),
    ]
    if path.decided_at is not None:
        index = path.blocks.index(path.decided_at)
        star = {"symbol": "star", "size": 15, "color": colors.series[1]}
        words = f"decided at block {path.decided_at}<extra></extra>"
        traces.append(
            go.Scatter(mode="markers", x=[path.decided_at], y=[path.estimates[index]], marker=star, hovertemplate=words)
        )
    return traces


def _faded(color: str, share: float) -> str:
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{share})"
