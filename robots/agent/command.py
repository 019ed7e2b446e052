"""`python -m robots agent --lab URL --token T`: serve a lab with a cell."""

import argparse
import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import Sequence
from pathlib import Path

from robots.agent.agent import Agent, AgentOptions
from robots.agent.link import RefusedError
from robots.agent.rig import Rig
from robots.progress import EXIT_DONE, EXIT_USAGE

DEFAULT_STATE = Path("~/.local/state/groundlab-agent")


def main(argv: Sequence[str]) -> int:
    """Run until SIGTERM or Ctrl-C (status 0); a refused token or wrong usage is status 2."""
    args = _parser().parse_args(argv)
    token = args.token or os.environ.get("GROUNDLAB_AGENT_TOKEN", "")
    if not token:
        print("error: give the agent's token by --token or GROUNDLAB_AGENT_TOKEN")
        return EXIT_USAGE
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    options = AgentOptions(args.lab.rstrip("/"), token, args.state_dir.expanduser(), args.warm)
    try:
        asyncio.run(_serve(options, args))
    except RefusedError as error:
        print(f"error: {error}")
        return EXIT_USAGE
    return EXIT_DONE


async def _serve(options: AgentOptions, args: argparse.Namespace) -> None:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, task.cancel)  # type: ignore[union-attr]  # a running coroutine has a task
    agent = Agent(options, _bench_rig(args))
    with contextlib.suppress(asyncio.CancelledError):
        await agent.run()


def _bench_rig(args: argparse.Namespace) -> Rig:
    from robots.agent.bench_rig import BenchRig
    from robots.drivers.bench import BenchCell

    image_size = args.image_size or (256 if args.pace == "realtime" else 128)
    bench = BenchCell.start(seed=args.bench_seed, pace=args.pace)
    return BenchRig(bench, pace=args.pace, image_size=image_size, camera_fps=args.camera_fps)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m robots agent", description=__doc__)
    parser.add_argument("--lab", required=True, help="address of the lab, e.g. http://127.0.0.1:8000")
    parser.add_argument("--token", help="this agent's token; or in GROUNDLAB_AGENT_TOKEN")
    parser.add_argument("--bench-seed", type=int, default=0, help="draws the bench cell's hidden parameters")
    parser.add_argument("--pace", choices=("fast", "realtime"), default="realtime")
    parser.add_argument("--state-dir", type=Path, default=DEFAULT_STATE, help="spool, checkpoints and logs")
    parser.add_argument("--warm", type=int, default=2, help="policy servers kept running")
    parser.add_argument("--image-size", type=int, help="side of the square views [px]; 256 by the clock, else 128")
    parser.add_argument("--camera-fps", type=float, default=12.5, help="camera pictures a second")
    return parser
