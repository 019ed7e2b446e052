"""The ungrounded world: what CAD, tape measure and data sheets say."""

import json
from pathlib import Path
from typing import Any

from robots.cell.bench import BENCH_CELL
from robots.cell.world import nominal_world
from robots.config import write_json
from robots.progress import Progress


def write_nominal(out: Path, progress: Progress) -> dict[str, Any]:
    """Write OUT/world.json."""
    write_json(out / "world.json", json.loads(nominal_world(BENCH_CELL).to_json()))
    progress.artifact("world.json", "result")
    return {"world": "world.json", "grounded": False}
