"""Building blocks of the results page: table, effects, badges, empty states."""

from collections.abc import Sequence
from typing import Any

from dash import dcc, html

from frontend.dashboards.content import (
    Cell,
    Choice,
    ComparisonLine,
    Content,
    DeclaredLine,
    EffectLine,
    PairedLine,
    PosteriorLine,
    ProgressLine,
    Row,
)

MOST_NAMED = 4  # pairs of arms in a sentence
HEADS = ("points", "interval", "adjusted p", "more trials per arm")
GRAPH_CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["toImage"], "responsive": True}
SAVED_AS = ("svg", "png")


def success_table(content: Content) -> html.Div:
    """Arms by conditions: k of n, rate and interval; every cell opens its trials."""
    head = html.Tr(
        [html.Th("Arm", scope="col"), *[html.Th(c, scope="col", className="number") for c in content.columns]]
    )
    return html.Div(
        html.Table(
            [html.Thead(head), html.Tbody([_table_row(row) for row in content.rows])],
            id="success-table",
            className="results-table",
        ),
        className="table-scroll",
    )


def _table_row(row: Row) -> html.Tr:
    name = [html.Span(row.arm, className="strong")]
    if row.is_simulated:
        name += [" ", simulated_badge()]
    if row.letters:
        name += [" ", html.Span(row.letters, className="key", title="Arms that share a letter: no difference shown")]
    latency = f"inference {row.latency_ms:.0f} ms" if row.latency_ms is not None else ""
    if facts := " · ".join(fact for fact in (row.detail, latency) if fact):
        name += [html.Br(), html.Span(facts, className="faint small")]
    return html.Tr([html.Th(name, scope="row"), *[_table_cell(row.arm, cell) for cell in row.cells]])


def _table_cell(arm: str, cell: Cell) -> html.Td:
    if cell.rate is None:
        return html.Td("no trials", className="number faint")
    link = html.A(
        [html.Span(f"{cell.rate:.0%}", className="strong"), f" {cell.successes}/{cell.trials}"],
        href=cell.href,
        title=f"Trials of {arm}",
    )
    bounds = html.Span(f"{cell.low:.0%} – {cell.high:.0%}", className="faint small")
    return html.Td([link, html.Br(), bounds], className="number")


def comparisons_table(lines: Sequence[ComparisonLine]) -> html.Div:
    """Every pair of arms: difference in points with interval, and the adjusted p-value."""

    def row(line: ComparisonLine) -> html.Tr:
        if line.points is None:
            rest = [html.Td("no trials", className="number faint"), html.Td(""), html.Td(""), html.Td("")]
        else:
            rest = [
                html.Td(f"{line.points:+.1f}", className="number"),
                html.Td(f"{line.low:+.1f} to {line.high:+.1f}", className="number"),
                html.Td("< 0.001" if line.adjusted_p < 0.001 else f"{line.adjusted_p:.3f}", className="number"),
                html.Td(line.more, className="number"),
            ]
        return html.Tr([html.Td(_pair(line)), *rest])

    head = html.Tr([html.Th("Pair"), *[html.Th(h, className="number") for h in HEADS]])
    return html.Div(html.Table([html.Thead(head), html.Tbody([row(line) for line in lines])]), className="table-scroll")


def differing_pairs(lines: Sequence[ComparisonLine], alpha: float) -> str:
    """How many pairs are shown to differ at this level and which, in a sentence; the table's letters say the same."""
    tested = [line for line in lines if line.points is not None and line.adjusted_p is not None]
    shown = [line for line in tested if line.adjusted_p < alpha]
    if not shown:
        return "No pair of arms is shown to differ."
    each = "; ".join(f"{_above(line)}, {abs(line.points):.1f} points" for line in shown[:MOST_NAMED])
    more = f"; and {len(shown) - MOST_NAMED} more" if len(shown) > MOST_NAMED else ""
    if len(tested) == 1:
        return f"The two arms differ: {each}."
    return f"{len(shown)} of {len(tested)} pairs {'differs' if len(shown) == 1 else 'differ'}: {each}{more}."


def _above(line: ComparisonLine) -> str:
    first, second = (line.first, line.second) if line.points > 0 else (line.second, line.first)
    return f"{first} above {second}"


def paired_table(lines: Sequence[PairedLine]) -> html.Div:
    """Arms over pairs: how often only one of them succeeded, the difference with its interval, the exact test."""

    def row(line: PairedLine) -> html.Tr:
        numbers = [
            f"{line.pairs}",
            f"{line.only_first}",
            f"{line.only_second}",
            f"{line.points:+.1f}",
            f"{line.low:+.1f} to {line.high:+.1f}",
            f"{line.p:.2g}" if line.p >= 1e-6 else "< 1e-6",
        ]
        return html.Tr([html.Td(_pair(line)), *[html.Td(number, className="number") for number in numbers]])

    names = ("pairs", "only the first", "only the second", "points", "interval", "exact p")
    head = html.Tr([html.Th("Pair of arms"), *[html.Th(name, className="number") for name in names]])
    table = html.Table([html.Thead(head), html.Tbody([row(line) for line in lines])], id="paired-table")
    sentences = html.Div(html.Ul([html.Li(line.sentence) for line in lines]), className="effects-list")
    return html.Div([html.Div(table, className="table-scroll"), sentences])


def posterior_table(lines: Sequence[PosteriorLine]) -> html.Div:
    """Effects by posterior: mean and credible interval in points, probability of above zero."""

    def row(line: PosteriorLine) -> list[Any]:
        interval = f"{line.low:+.1f} to {line.high:+.1f}"
        name = html.A(line.effect, href=line.href, title="Trials of this effect") if line.href else line.effect
        return [name, line.group, f"{line.points:+.1f}", interval, probability(line.probability)]

    return _table(("Effect", "Trials", "points", "interval", "above zero"), [row(line) for line in lines], words=2)


def progress_table(lines: Sequence[ProgressLine]) -> html.Div:
    """Pairs of arms by how far trials got."""

    def row(line: ProgressLine) -> list[Any]:
        interval = f"{line.low:.0%} to {line.high:.0%}"
        p = "< 0.001" if line.adjusted_p < 0.001 else f"{line.adjusted_p:.3f}"
        return [_pair(line), f"{line.superiority:.0%}", interval, p]

    return _table(("Pair", "first gets further", "interval", "adjusted p"), [row(line) for line in lines])


def probability(value: float) -> str:
    """Neither 0 nor 100%: draws can show neither."""
    return "> 99.9%" if value > 0.999 else "< 0.1%" if value < 0.001 else f"{100 * value:.1f}%"


def _table(heads: Sequence[str], rows: Sequence[Sequence[Any]], words: int = 1) -> html.Div:
    """A plain table; the first `words` columns hold words, the others numbers."""

    def cells(kind: Any, values: Sequence[Any]) -> list[Any]:
        return [kind(v, className="" if i < words else "number") for i, v in enumerate(values)]

    head, body = html.Tr(cells(html.Th, heads)), [html.Tr(cells(html.Td, row)) for row in rows]
    return html.Div(html.Table([html.Thead(head), html.Tbody(body)]), className="table-scroll")


def _pair(line: ComparisonLine | PairedLine | ProgressLine) -> Any:
    """The pair's name; it opens the trials of both arms."""
    name = f"{line.first} − {line.second}"
    return html.A(name, href=line.href, title="Trials of both arms") if line.href else name


def effects_list(lines: Sequence[EffectLine]) -> html.Div:
    """The effects in sentences: over all trials first, the other groups folded below."""
    first = lines[0].point.group if lines else ""
    rest = [line for line in lines if line.point.group != first]
    children: list[Any] = [html.Ul([html.Li(_effect(line)) for line in lines if line.point.group == first])]
    if rest:
        items = [html.Li([html.Span(line.point.group, className="key"), " ", *_effect(line)]) for line in rest]
        title = f"{' and '.join(dict.fromkeys(line.point.group for line in rest))} apart".capitalize()
        children.append(html.Details([html.Summary(title), html.Ul(items)]))
    return html.Div(children, className="effects-list")


def _effect(line: EffectLine) -> list[Any]:
    return _told(line.sentence, line.point.href)


def declared_list(lines: Sequence[DeclaredLine]) -> html.Div:
    """What came of comparisons and margins that the plan declared."""
    return html.Div(html.Ul([html.Li(_told(line.sentence, line.href)) for line in lines]), className="effects-list")


def _told(sentence: str, href: str) -> list[Any]:
    """The sentence, and the way to the trials behind it."""
    return [sentence, *([" ", html.A("Trials", href=href)] if href else [])]


def graph(identifier: str, figure: Any) -> html.Div:
    """A figure that fills its card; its marks open the trials behind them, its buttons save it as a file."""
    plot = dcc.Graph(id={"figure": identifier}, figure=figure, config=GRAPH_CONFIG, className="plot")
    buttons = [
        html.Button(
            kind.upper(),
            id={"save": identifier, "format": kind},
            className="button small",
            title=f"Save this figure as {kind.upper()}, light and as wide as a page",
        )
        for kind in SAVED_AS
    ]
    return html.Div([plot, html.Div(buttons, className="figure-save")], id=identifier, className="figure")


def card(title: str, children: Any, note: str = "") -> html.Section:
    """A titled card; `note` stands small beside the title."""
    head = [html.H2(title)] + ([html.Span(note, className="card-note")] if note else [])
    return html.Section(
        [html.Div(head, className="card-head"), html.Div(children, className="card-body")], className="card"
    )


def simulated_badge() -> html.Span:
    """The mark of everything made on the bench cell."""
    return html.Span("simulated", className="simulated", title="Made on the simulated bench cell")


def notice(text: Any, tone: str = "") -> html.Div:
    """A sentence that the reader must not miss."""
    return html.Div(text, className=f"notice {tone}".strip(), role="note")


def empty(title: str, text: str) -> html.Div:
    """What to do when there is nothing yet."""
    return html.Div([html.H2(title), html.P(text)], className="empty")


def export_links(exports: Sequence[Choice]) -> html.Div:
    """Downloads of what the page shows, with its filters."""
    return html.Div([html.A(e.label, href=e.value, className="button small") for e in exports], className="actions")
