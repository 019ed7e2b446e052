"""`python -m robots.drivers.bench FOLDER --seed 0 --pace realtime`: a bench cell that listens in FOLDER."""

import argparse
import shutil
from pathlib import Path


def main() -> None:
    """Parse the command line and serve until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m robots.drivers.bench", description=__doc__)
    parser.add_argument("folder", type=Path, help="where drivers.sock, operator.sock and referee.sock appear")
    parser.add_argument("--seed", type=int, default=0, help="draws the hidden true parameters")
    parser.add_argument("--pace", choices=("fast", "realtime"), default="realtime")
    parser.add_argument("--left-arm", choices=("fixed", "dynamic"), default="fixed")
    parser.add_argument("--nominal", action="store_true", help="a cell exactly as described: for tests")
    parser.add_argument(
        "--exit-with-parent", action="store_true", help="stop when standard input closes, and remove FOLDER"
    )
    args = parser.parse_args()

    from robots.cell.bench import BENCH_CELL
    from robots.cell.world import nominal_world
    from robots.drivers.bench.server import serve
    from robots.drivers.bench.simulation import BenchSimulation
    from robots.drivers.bench.truth import draw_true_world

    args.folder.mkdir(parents=True, exist_ok=True)
    world = nominal_world(BENCH_CELL) if args.nominal else draw_true_world(BENCH_CELL, args.seed)
    sim = BenchSimulation(BENCH_CELL, world, seed=args.seed, pace=args.pace, left_arm=args.left_arm)
    try:
        serve(sim, args.folder, exit_with_parent=args.exit_with_parent)
    except KeyboardInterrupt:
        return
    finally:
        if args.exit_with_parent:  # the parent may be gone and cannot clear its folder
            shutil.rmtree(args.folder, ignore_errors=True)


if __name__ == "__main__":
    main()
