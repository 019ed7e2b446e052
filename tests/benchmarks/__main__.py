"""``python -m tests.benchmarks``: runs every ``bench_*.py`` beside this file; all rows go to one JSON file."""

import importlib
import json
import sys
import time
from pathlib import Path
from typing import Any

OUT = Path("build/bench.json")


def main() -> int:
    """Measure one after the other; status 1 when a bar is missed."""
    measured = []
    for path in sorted(Path(__file__).parent.glob("bench_*.py")):
        started = time.monotonic()
        rows = importlib.import_module(f"tests.benchmarks.{path.stem}").run()
        measured += rows
        for row in rows:
            print(line_of(row), flush=True)
        print(f"    {path.stem}: {time.monotonic() - started:.0f} s", flush=True)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps(measured, indent=1))
    return 0 if all(row["ok"] for row in measured) else 1


def line_of(row: dict[str, Any]) -> str:
    value = "-" if row["value"] is None else f"{row['value']:.3g}"
    return f"{'ok  ' if row['ok'] else 'FAIL'} {row['name']}: {value} (bar {row['bar']:g}) {row['detail']}"


if __name__ == "__main__":
    sys.exit(main())
