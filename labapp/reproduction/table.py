"""The success table as text for a terminal."""

from collections.abc import Iterable

from frontend.dashboards.content import Cell, Content


def format_table(content: Content) -> str:
    """Configurations down, conditions across: successes of trials, rate and its 95 % Wilson interval."""
    header = ["configuration", *content.columns]
    rows = [[row.arm, *(_cell(cell) for cell in row.cells)] for row in content.rows]
    widths = [max(len(line[i]) for line in [header, *rows]) for i in range(len(header))]
    lines = [_line(header, widths), _line(["-" * width for width in widths], widths)]
    lines += [_line(row, widths) for row in rows]
    lines += ["", *(f"{effect.point.group} trials: {effect.sentence}" for effect in content.effects)]
    if content.is_simulated:
        lines += ["", "Simulated: these trials ran on the bench cell, not on a robot."]
    return "\n".join(lines)


def _line(values: Iterable[str], widths: Iterable[int]) -> str:
    return "  ".join(value.ljust(width) for value, width in zip(values, widths, strict=True)).rstrip()


def _cell(cell: Cell) -> str:
    if not cell.trials:
        return "no trials"
    return f"{cell.successes}/{cell.trials} {100 * cell.rate:.0f}% [{100 * cell.low:.0f}, {100 * cell.high:.0f}]"
