"""Command line of the ground floor: `python -m robots episodes ...`, `record`, `agent`.

Each command imports what it needs when it runs, so that looking at episodes loads no simulator.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from robots.episodes.command import add_episodes_parser
from robots.progress import Progress, add_report_options, run_command


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] == ["agent"]:
        from robots.agent import main as agent_main

        return agent_main(arguments[1:])
    args = _parser().parse_args(arguments)
    return int(args.run(args))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m robots", description="The cell and what runs beside it.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add_episodes_parser(commands)
    record = commands.add_parser("record", help="record scripted demonstrations on the bench cell")
    record.add_argument("config", type=Path, help="JSON file with the fields of RecordConfig")
    record.add_argument("out", type=Path, help="output folder; the same command on it resumes")
    add_report_options(record)
    record.set_defaults(run=_record)
    commands.add_parser("agent", help="take trials from the lab and run them (see: agent --help)")
    return parser


def _record(args: argparse.Namespace) -> int:
    def body(progress: Progress) -> dict[str, object]:
        from robots.config import load_config
        from robots.record import RecordConfig, run

        return run(load_config(RecordConfig, args.config), args.out, progress)

    return run_command(body, events=args.events, json_out=args.json)


if __name__ == "__main__":
    sys.exit(main())
