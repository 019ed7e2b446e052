"""`python -m robots episodes import|check|merge|recover|info`."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from robots.errors import ConfigError
from robots.progress import Progress, add_report_options, run_command

Body = Callable[[argparse.Namespace, Progress], dict[str, Any]]


def add_episodes_parser(commands: Any) -> None:
    """Add `episodes` and its subcommands to the subparsers of a command line."""
    episodes = commands.add_parser("episodes", help="import, check, merge, recover or describe episodes folders")
    actions = episodes.add_subparsers(required=True, metavar="ACTION")
    _add(actions, "import", "bring a LeRobot v2.x (or v3.0) folder in", _import, ("src", "dst")).add_argument(
        "--units", choices=("rad", "deg"), help="unit of state and action, if you know it"
    )
    _add(actions, "check", "verify a folder", _check, ("dir",)).add_argument(
        "--fast", action="store_true", help="count video frames without decoding them"
    )
    merge = _add(actions, "merge", "put several folders into a new one", _merge, ())
    merge.add_argument("sources", nargs="+", type=Path)
    merge.add_argument("dst", type=Path)
    _add(actions, "recover", "save the undamaged episodes of a folder", _recover, ("src", "dst"))
    _add(actions, "info", "describe a folder", _info, ("dir",))


def _add(actions: Any, name: str, text: str, body: Body, folders: tuple[str, ...]) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(name, help=text, description=text)
    for folder in folders:
        parser.add_argument(folder, type=Path)
    add_report_options(parser)
    parser.set_defaults(run=lambda args: run_command(lambda p: body(args, p), events=args.events, json_out=args.json))
    return parser


def _folder(path: Path, field: str) -> Path:
    if not path.is_dir():
        raise ConfigError(f"{path} is not a folder", field)
    return path


def _steps(progress: Progress) -> Callable[[int, int], None]:
    return lambda done, total: progress.progress(done, total, "episodes")


def _import(args: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    from robots.episodes.importing import import_episodes

    report = import_episodes(args.src, args.dst, units=args.units, on_step=_steps(progress))
    for rejected in report.rejected:
        progress.log(f"episode {rejected['episode']} rejected: {rejected['reason']}", "warning")
    progress.artifact(args.dst, "episodes")
    return report.to_json()


def _check(args: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    from robots.episodes.check import check_episodes

    report = check_episodes(_folder(args.dir, "dir"), decode=not args.fast, on_step=_steps(progress))
    for level, findings in (("error", report.errors), ("warning", report.warnings)):
        for finding in findings:
            where = "" if finding.episode is None else f"episode {finding.episode}: "
            progress.log(where + finding.message, level)
    return report.to_json()


def _merge(args: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    from robots.episodes.merge import merge_episodes

    sources = [_folder(path, "sources") for path in args.sources]
    result = merge_episodes(sources, args.dst, on_step=_steps(progress))
    progress.artifact(args.dst, "episodes")
    return result


def _recover(args: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    from robots.episodes.recover import recover_episodes

    result = recover_episodes(_folder(args.src, "src"), args.dst, on_step=_steps(progress))
    progress.artifact(args.dst, "episodes")
    return result


def _info(args: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    from robots.episodes.reader import EpisodesReader

    reader = EpisodesReader(_folder(args.dir, "dir"))
    return {
        "path": str(args.dir),
        "robot_type": reader.robot_type,
        "fps": reader.fps,
        "episodes": len(reader),
        "frames": reader.frames,
        "tasks": [text for _, text in sorted(reader.tasks.items())],
        "cameras": reader.cameras,
        "features": {name: feature.to_json() for name, feature in reader.features.items()},
        "extras": {name: str(field.type) for name, field in reader.extra_fields.items()},
    }
