"""Command line: `python -m labapp.statistics rate 26 50`. Exit status 0, or 2 where the input cannot be used."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from labapp.statistics import commands, sequential_commands
from labapp.statistics.sequential import SHAPES

PAPER_CELLS = "0.86,0.82,0.74,0.58"


def parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    top = argparse.ArgumentParser(prog="python -m labapp.statistics", description="Statistics of success rates.")
    commands_of = top.add_subparsers(dest="command", required=True)

    rate = _command(commands_of, "rate", commands.rate_command, "one success rate with its interval")
    _counts(rate, ("K", "N"))
    rate.add_argument("--method", choices=("wilson", "clopper-pearson"), default="wilson")

    difference = _command(commands_of, "difference", commands.difference_command, "rate 1 minus rate 2")
    _counts(difference, ("K1", "N1", "K2", "N2"))
    difference.add_argument("--test", choices=("boschloo", "barnard", "fisher"), default="boschloo")
    difference.add_argument("--margin", type=float, help="declared equivalence margin as a share, like 0.1")

    paired = _command(commands_of, "paired", commands.paired_command, "two arms by their discordant pairs")
    _counts(paired, ("N10", "N01"))
    paired.add_argument("--pairs", type=int, help="all pairs, for the interval of the difference")

    factorial = _command(commands_of, "factorial", commands.factorial_command, "main effects and interaction of 2 x 2")
    factorial.add_argument("rows", type=Path, metavar="ROWS.csv")
    factorial.add_argument("--factors", required=True, help="two columns, like world,behavior")
    factorial.add_argument("--outcome", required=True, help="column with 1 (success) or 0")
    factorial.add_argument("--stratum", help="column of the condition")
    factorial.add_argument("--levels", action="append", default=[], metavar="FACTOR=LOW,HIGH")
    factorial.add_argument("--weights", choices=("size", "equal"), default="size")
    factorial.add_argument("--terms", default="", help="columns of the logistic check, like block,operator")

    compare = _command(commands_of, "compare", commands.compare_command, "every pair of arms")
    compare.add_argument("rows", type=Path, metavar="ROWS.csv")
    compare.add_argument("--arm", required=True, help="column that names the arm")
    compare.add_argument("--outcome", required=True, help="column with 1 (success) or 0")

    _add_sequential(commands_of)
    _add_power(commands_of)
    return top


def _add_sequential(commands_of: Any) -> None:
    run = sequential_commands.sequential_command
    sequential = _command(commands_of, "sequential", run, "whether to stop, by planned looks or at any time")
    sequential.add_argument("rows", type=Path, metavar="ROWS.csv")
    sequential.add_argument("--arm", required=True, help="column that names the arm")
    sequential.add_argument("--outcome", required=True, help="column with 1 (success) or 0")
    sequential.add_argument("--block", required=True, help="column with the block, counted from 1")
    _add_rule(sequential, is_required=True)
    sequential.add_argument("--planned", type=int, help="planned blocks; the last look is after them")
    sequential.add_argument("--arms", default="", help="all arms in order, where some may have no row yet")
    sequential.add_argument("--withdrawn", default="", help="arms for which blocks no longer wait")
    sequential.add_argument("--primary", default="", metavar="KEYS", help="like main_a,A17:K42; all pairs without it")
    sequential.add_argument("--factors", default="", help="two columns, for main_a, main_b and interaction")
    sequential.add_argument("--adjustment", choices=("holm", "none"), default="holm")
    sequential.add_argument("--reserved", type=int, default=0, help="comparisons not told here that keep their share")


def _add_rule(command: argparse.ArgumentParser, is_required: bool) -> None:
    rule = command.add_mutually_exclusive_group(required=is_required)
    rule.add_argument("--looks", type=int, metavar="K", help="looks of a group-sequential study, evenly spread")
    rule.add_argument("--anytime", action="store_true", help="betting confidence sequences, read after every block")
    command.add_argument("--shape", choices=SHAPES, default=SHAPES[0], help="of the group-sequential boundaries")


def _add_power(commands_of: Any) -> None:
    power = _command(
        commands_of, "power", sequential_commands.stopping_power_command, "power before a study, n for a power"
    )
    kind = power.add_mutually_exclusive_group(required=True)
    kind.add_argument("--cells", metavar="GG,GU,UG,UU", help=f"assumed rates of the 2 x 2 cells, like {PAPER_CELLS}")
    kind.add_argument("--pair", metavar="P1,P2", help="assumed rates of two arms")
    kind.add_argument("--base", type=float, help="rate around which the minimum detectable effects are wanted")
    power.add_argument("--n", type=int, required=True, help="trials a cell or arm")
    power.add_argument("--power", type=float, default=0.8)
    _add_rule(power, is_required=False)
    power.add_argument("--simulated", action="store_true", help="apply the results page's interval to drawn studies")


def _command(commands_of: Any, name: str, run: Callable[..., Any], text: str) -> argparse.ArgumentParser:
    command = commands_of.add_parser(name, help=text, description=text)
    command.add_argument("--json", action="store_true", help="machine-readable result")
    command.add_argument("--confidence", type=float, default=0.95)
    command.set_defaults(run=run)
    return command


def _counts(command: argparse.ArgumentParser, names: Sequence[str]) -> None:
    for name in names:
        command.add_argument(name.lower(), type=int, metavar=name)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; a bad input is one line on stderr and status 2."""
    options = parser().parse_args(arguments)
    try:
        result, sentences = options.run(options)
    except (ValueError, OSError) as error:
        print(f"{options.command}: {error}", file=sys.stderr)
        return 2
    print(json.dumps(result, indent=1, allow_nan=False) if options.json else "\n".join(sentences))
    return 0


if __name__ == "__main__":
    sys.exit(main())
