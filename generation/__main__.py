"""Command line: `python -m generation generate|register|nominal|replay|evaluate ...`."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from robots.progress import Progress, add_report_options, run_command


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit status: 0 done, 1 the data says no, 2 bad usage."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    os.environ.setdefault("MUJOCO_GL", "egl")
    os.environ.setdefault("LP_NUM_THREADS", "0")
    args = _parser().parse_args(argv)
    body: Callable[[argparse.Namespace, Progress], dict[str, Any]] = args.body
    return run_command(lambda progress: body(args, progress), events=args.events, json_out=args.json)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m generation", description="Worlds, behaviors, simulated datasets.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add(
        commands, "generate", _generate, "make a simulated dataset of exactly n accepted trajectories", "GenerateConfig"
    )
    _add(commands, "register", _register, "measure a bench cell into a grounded world", "RegisterConfig")
    _add(commands, "evaluate", _evaluate, "roll policies out in a world under a study's conditions", "EvaluateConfig")
    nominal = _add(commands, "nominal", _nominal, "write the ungrounded world: the cell as described", None)
    nominal.add_argument("out", type=Path, help="output folder; gets world.json")
    replay = _add(commands, "replay", _replay, "replay episodes of a dataset from their stored starts", None)
    replay.add_argument("out", type=Path, help="output folder of a generate run")
    replay.add_argument("--episodes", type=int, nargs="*", help="episode indexes; all when left out")
    return parser


def _add(commands: Any, name: str, body: Any, text: str, config: str | None) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=text)
    if config is not None:
        command.add_argument("config", type=Path, help=f"JSON file with the fields of {config}")
        command.add_argument("out", type=Path, help="output folder; the same command on it resumes")
    add_report_options(command)
    command.set_defaults(body=body)
    return command


def _generate(args: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    from generation.config import GenerateConfig
    from generation.pipeline import generate
    from robots.config import load_config

    return generate(load_config(GenerateConfig, args.config), args.out, progress)


def _register(args: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    from generation.config import RegisterConfig
    from generation.world.register import register
    from robots.config import load_config

    return register(load_config(RegisterConfig, args.config), args.out, progress)


def _evaluate(args: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    from generation.evaluation.command import evaluate
    from generation.evaluation.config import EvaluateConfig
    from robots.config import load_config

    return evaluate(load_config(EvaluateConfig, args.config), args.out, progress)


def _nominal(args: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    from generation.world.nominal import write_nominal

    return write_nominal(args.out, progress)


def _replay(args: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    from generation.replay import replay

    return replay(args.out, progress, args.episodes)


if __name__ == "__main__":
    sys.exit(main())
