"""The card of a plan's stopping rule: where the study stands, whether to go on, and every comparison at its looks."""

from collections.abc import Sequence
from typing import Any

from dash import html

from frontend import figures
from frontend.dashboards.content import LookedComparison, LooksCard
from frontend.dashboards.numbers import signed
from frontend.dashboards.parts import card, graph
from frontend.figures.data import CoursePath, LookPath

VERDICT_TONES = {"stop": "good", "go on": "active"}


def looks_cards(looks: LooksCard | None, theme: str) -> list[Any]:
    """The card, or nothing for a plan without looks."""
    if looks is None:
        return []
    title = f"Looks: {looks.rule}"
    if looks.missing:
        return [card(title, html.P(looks.missing, className="soft"), looks.note)]
    inside = [
        _verdict(looks),
        _track(looks),
        _table(looks),
        html.Div(graph("looks-figure", looks_figure(looks.comparisons, theme)), className=_figure_class(looks)),
        html.Ul([html.Li(text) for text in looks.notes], className="looks-notes soft small"),
        html.Details([html.Summary("The same from the exported rows"), html.Pre(looks.command)]),
    ]
    return [card(title, html.Div(inside, id="looks", className="looks"), looks.note)]


def looks_figure(comparisons: Sequence[LookedComparison], theme: str) -> Any:
    """The figure of either rule."""
    looked = [c.path for c in comparisons if isinstance(c.path, LookPath)]
    if looked:
        return figures.look_paths(looked, theme_name=theme)
    return figures.course_paths([c.path for c in comparisons if isinstance(c.path, CoursePath)], theme_name=theme)


def _figure_class(looks: LooksCard) -> str:
    """Several panels keep a width that can be read: on a phone they scroll sideways."""
    return "looks-panels" if len(looks.comparisons) > 1 else ""


def _verdict(looks: LooksCard) -> html.P:
    pill = html.Span(looks.verdict, className=f"pill {VERDICT_TONES.get(looks.verdict, '')}")
    return html.P([pill, " ", html.Span(looks.sentence, className="strong")], className="looks-verdict")


def _track(looks: LooksCard) -> html.Div:
    """Finished blocks of the planned ones as a bar, with a mark at each look."""

    def place(block: int) -> str:
        return f"{100 * min(block, looks.planned) / looks.planned:.2f}%"

    marks = [
        html.Span(
            html.Span(str(block)),
            className="looks-mark" + (" reached" if block <= looks.finished else ""),
            style={"left": place(block)},
            title=f"Look {number}, after block {block}",
        )
        for number, block in enumerate(looks.look_blocks, start=1)
    ]
    done = html.Div(className="looks-done", style={"width": place(looks.finished)})
    bar = html.Div([done, *marks], className="looks-track" + (" marked" if marks else ""))
    return html.Div([bar, html.Div(looks.position, className="soft small")])


def _table(looks: LooksCard) -> html.Div:
    heads = [
        html.Th(
            [f"Look {number}", html.Br(), html.Span(f"block {block}", className="faint small")],
            scope="col",
            className="number",
        )
        for number, block in enumerate(looks.look_blocks, start=1)
    ]
    if not heads:
        heads = [html.Th(text, scope="col", className="number") for text in ("Blocks", "Points", "Sequence")]
    head = html.Tr([html.Th("Comparison", scope="col"), *heads, html.Th("Verdict", scope="col")])
    rows = [_row(comparison, len(looks.look_blocks)) for comparison in looks.comparisons]
    table = html.Table([html.Thead(head), html.Tbody(rows)], id="looks-table", className="looks-table")
    return html.Div(table, className="table-scroll")


def _row(comparison: LookedComparison, looks: int) -> html.Tr:
    path = comparison.path
    cells = _look_cells(path, looks) if isinstance(path, LookPath) else _course_cells(path)
    return html.Tr(
        [html.Th(comparison.label, scope="row"), *cells, html.Td(comparison.sentence, className="wide-cell")]
    )


def _look_cells(path: LookPath, looks: int) -> list[html.Td]:
    """z over its boundary at every look; a look to come shows only its boundary, one after the crossing nothing."""
    cells = []
    for index in range(looks):
        if index >= len(path.boundaries):
            cells.append(html.Td("decided", className="number faint"))
            continue
        is_reached = index < len(path.zs)
        z = path.zs[index] if is_reached else None
        if z is None:
            shown = html.Span("not judged" if is_reached else "to come", className="faint")
        else:
            shown = html.Span(signed(z), className="strong")
        is_crossed = is_reached and path.look_blocks[index] == path.crossed_block
        boundary = html.Span(f"boundary {path.boundaries[index]:.2f}", className="faint small")
        cells.append(html.Td([shown, html.Br(), boundary], className="number crossed" if is_crossed else "number"))
    return cells


def _course_cells(path: CoursePath) -> list[html.Td]:
    if not path.blocks:
        return [html.Td("none", className="number faint"), html.Td(""), html.Td("")]
    bounds = f"{signed(path.lows[-1], 1)} to {signed(path.highs[-1], 1)}"
    decided = "number" if path.decided_at is None else "number crossed"
    return [
        html.Td(str(len(path.blocks)), className="number"),
        html.Td(signed(path.estimates[-1], 1), className="number"),
        html.Td(bounds, className=decided),
    ]
