"""The card "Simulated beside real": does success in simulation foretell success on the cell?"""

from collections.abc import Sequence
from typing import Any

from dash import html

from frontend import figures
from frontend.dashboards.numbers import signed
from frontend.dashboards.parts import card, graph
from frontend.dashboards.simulated_content import BesideLine, SimulatedCard
from frontend.figures.data import RatePoint

TITLE = "Simulated beside real"


def simulated_cards(content: SimulatedCard | None, confidence: float, theme: str) -> list[Any]:
    """The card, or nothing for a study whose policies are not here."""
    if content is None:
        return []
    if content.missing:
        return [card(TITLE, _missing(content))]
    note = html.A(content.about, href=content.href) if content.href else content.about
    percent = f"{100 * confidence:g}%"
    inside = [
        html.Div(graph("sim-beside-real", simulated_figure(content, theme)), className="beside-panels"),
        html.Div(html.Ul([html.Li(text) for text in content.sentences]), className="effects-list"),
        beside_table([line for line in content.lines if line.pair.real.group in content.figure_groups], "beside-table"),
        *_folded(content),
        html.P(
            [
                f"Rates with {percent} Wilson intervals; difference in points, simulated minus real, with {percent} "
                "Newcombe intervals, as if the two sides were independent. ",
                *content.notes,
                " ",
                html.A("Rollouts as CSV", href=content.rows_href),
            ],
            className="soft small",
        ),
    ]
    return [card(TITLE, html.Div(inside, id="simulated", className="beside"), note)]


def simulated_figure(content: SimulatedCard | None, theme: str) -> Any:
    """Simulated against real success of each arm."""
    return figures.sim_beside_real(content.figure_pairs if content else (), theme_name=theme)


def beside_table(lines: Sequence[BesideLine], identifier: str) -> html.Div:
    """Arms by groups of conditions: simulated, real, difference; every rate opens what it counts."""
    names = ("simulated", "real", "difference")
    head = html.Tr(
        [html.Th("Arm", scope="col"), html.Th("Conditions", scope="col")]
        + [html.Th(name, scope="col", className="number") for name in names]
    )
    rows, before = [], ""
    for line in lines:
        rows.append(_row(line, is_first=line.pair.real.arm != before))
        before = line.pair.real.arm
    table = html.Table([html.Thead(head), html.Tbody(rows)], id=identifier, className="results-table")
    return html.Div(table, className="table-scroll")


def _row(line: BesideLine, is_first: bool) -> html.Tr:
    """An arm is named in its first row only; who listens to the table hears it in each."""
    arm = line.pair.real.arm
    name = html.Th(html.Span(arm, className="strong" if is_first else "visually-hidden"), scope="row")
    cells = [_rate(line.pair.simulated, line.simulated_href), _rate(line.pair.real, line.real_href), _difference(line)]
    return html.Tr([name, html.Td(line.pair.real.group), *cells], className="first-of-arm" if is_first else "")


def _rate(point: RatePoint, href: str) -> html.Td:
    if point.rate is None:
        return html.Td("none", className="number faint")
    link = html.A([html.Span(f"{point.rate:.0%}", className="strong"), f" {point.successes}/{point.trials}"], href=href)
    return html.Td(
        [link, html.Span(f" {point.low:.0%} – {point.high:.0%}", className="faint small")], className="number"
    )


def _difference(line: BesideLine) -> html.Td:
    if line.points is None:
        return html.Td("", className="number")
    is_clear = round(line.low, 1) > 0 or round(line.high, 1) < 0
    number = html.Span(signed(line.points, 1), className="strong" if is_clear else "")
    bounds = html.Span(f" {signed(line.low, 1)} to {signed(line.high, 1)}", className="faint small")
    return html.Td([number, bounds], className="number")


def _folded(content: SimulatedCard) -> list[Any]:
    rest = [line for line in content.lines if line.pair.real.group not in content.figure_groups]
    if not rest:
        return []
    return [html.Details([html.Summary("Condition by condition"), beside_table(rest, "beside-conditions")])]


def _missing(content: SimulatedCard) -> html.Div:
    inside: list[Any] = [html.P(content.missing, className="soft")]
    if content.action:
        inside.append(html.A(content.action, href=content.action_href, className="button primary"))
    return html.Div(inside, id="simulated", className="stack")
