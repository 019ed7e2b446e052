"""The success table for papers: LaTeX (booktabs) and HTML."""

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from frontend.dashboards.content import Cell, Content
from frontend.dashboards.numbers import utc_minute

LATEX_ESCAPES = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "−": "$-$",
}  # fmt: skip


def latex_text(text: str) -> str:
    """The text in one line, with LaTeX's special characters escaped."""
    return "".join(LATEX_ESCAPES.get(character, character) for character in " ".join(text.split()))


def latex_table(content: Content, confidence: float) -> str:
    """A tabular environment: k/n, rate and Wilson interval in per cent; needs the booktabs package."""
    columns = " & ".join(latex_text(column) for column in content.columns)
    body = "\n".join(
        f"{latex_text(row.arm)} & {' & '.join(_latex_cell(cell) for cell in row.cells)} \\\\" for row in content.rows
    )
    moment = f" as of {utc_minute(content.read_at)}" if content.since else ""
    kind = ", simulated" if content.is_simulated else ""
    source = f"{content.name}, data version {content.data_version}{moment}{kind}"
    return (
        f"% {latex_text(source)}; rate in per cent with {100 * confidence:g}% Wilson interval\n"
        f"\\begin{{tabular}}{{l{'r' * len(content.columns)}}}\n\\toprule\nArm & {columns} \\\\\n\\midrule\n"
        f"{body}\n\\bottomrule\n\\end{{tabular}}\n"
    )


def _latex_cell(cell: Cell) -> str:
    if cell.rate is None or cell.low is None or cell.high is None:
        return "no trials"
    bounds = f"[{100 * cell.low:.0f}, {100 * cell.high:.0f}]"
    return f"{cell.successes}/{cell.trials}, {100 * cell.rate:.0f} {bounds}"


def html_table(content: Content) -> SafeString:
    """The table without links and styles."""
    head = format_html_join("", "<th>{}</th>", ((column,) for column in content.columns))
    rows = format_html_join(
        "\n",
        "<tr><th>{}<br><small>{}</small></th>{}</tr>",
        (
            (row.arm, row.detail, format_html_join("", "<td>{}</td>", ((_html_cell(cell),) for cell in row.cells)))
            for row in content.rows
        ),
    )
    return format_html("<table>\n<tr><th>Arm</th>{}</tr>\n{}\n</table>\n", head, rows)


def _html_cell(cell: Cell) -> SafeString | str:
    if cell.rate is None or cell.low is None or cell.high is None:
        return "no trials"
    return format_html(
        "{}/{}, <b>{}%</b><br><small>{} to {}%</small>",
        cell.successes,
        cell.trials,
        *(f"{100 * value:.0f}" for value in (cell.rate, cell.low, cell.high)),
    )
