"""Colours, marks and layout shared by all figures.

Hues are Okabe and Ito's, which stay apart for every common kind of colour blindness; series differ by marker, dash or
pattern as well, so a figure also reads in grey.
"""

from typing import NamedTuple

import plotly.graph_objects as go


class Theme(NamedTuple):
    """Colours that depend on the background."""

    text: str
    grid: str
    zero: str
    series: tuple[str, ...]


LIGHT = Theme(
    text="#1f2933",
    grid="#d9dee4",
    zero="#52606d",
    series=("#0072b2", "#d55e00", "#009e73", "#b3589a", "#8a6d00", "#3d9bd6", "#555f6b"),
)
DARK = Theme(
    text="#e4e9ee",
    grid="#3b4650",
    zero="#9aa7b3",
    series=("#56b4e9", "#e69f00", "#2fbf94", "#e394c6", "#f0e442", "#8ab8ff", "#b8c2cc"),
)
THEMES = {"light": LIGHT, "dark": DARK}
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star", "cross")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "solid")
PATTERNS = ("", "/", "x", ".", "\\", "-", "+")


class Mark(NamedTuple):
    """How one series looks."""

    color: str
    symbol: str
    dash: str
    pattern: str


def theme(name: str) -> Theme:
    """The theme called `name`.

    Raises:
        ValueError: on anything but light and dark.
    """
    if name not in THEMES:
        raise ValueError(f"unknown theme {name!r}: light or dark")
    return THEMES[name]


def mark(index: int, colors: Theme) -> Mark:
    """Look of the series at `index`; a figure with many series repeats hues but not hue and mark together."""
    turn = index // len(colors.series)
    i, j = index % len(colors.series), (index + turn) % len(SYMBOLS)
    return Mark(colors.series[i], SYMBOLS[j], DASHES[j], PATTERNS[j])


def pattern(look: Mark) -> dict[str, object]:
    """Light hatching over a filled bar: the fill keeps the series' colour."""
    return {
        "shape": look.pattern,
        "fillmode": "overlay",
        "fgcolor": "rgba(255,255,255,0.55)",
        "size": 7,
        "solidity": 0.2,
    }


def blank(colors: Theme, *, height: int = 360, **layout: object) -> go.Figure:
    """An empty figure in the theme, transparent so that the page's background shows."""
    figure = go.Figure()
    axis = {"gridcolor": colors.grid, "linecolor": colors.grid, "zerolinecolor": colors.grid, "automargin": True}
    figure.update_layout(
        template="none",
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": colors.text, "family": "system-ui, sans-serif", "size": 13},
        margin={"l": 56, "r": 16, "t": 24, "b": 48},
        height=height,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        xaxis=axis,
        yaxis=axis,
    )
    figure.update_layout(**layout)
    return figure


def nothing_yet(colors: Theme, message: str) -> go.Figure:
    """A figure that says in words why there is nothing to draw."""
    figure = blank(colors, height=200, xaxis={"visible": False}, yaxis={"visible": False})
    figure.add_annotation(text=message, showarrow=False, xref="paper", yref="paper", x=0.5, y=0.5)
    return figure
