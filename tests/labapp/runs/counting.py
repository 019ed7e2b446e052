"""A kind of run for the tests; a worker process learns it with ``--include tests.labapp.runs.counting``."""

import sys
from pathlib import Path
from typing import Any

from labapp.runs.kinds import RunError, RunKind, out_folder, register
from labapp.runs.models import Run

COMMAND = Path(__file__).with_name("counter_command.py")


@register
class Counting(RunKind):
    name, label = "tests.counting", "Count"

    def prepare(self, run: Run, workdir: Path) -> list[str]:
        if run.params.get("unprepared"):
            raise RunError("there is nothing to count", field="n")
        facts = [str(run.params.get("n", 3)), str(run.params.get("pause", 0)), run.params.get("extra", "")]
        return [sys.executable, str(COMMAND), str(out_folder(workdir)), *facts]

    def finish(self, run: Run, workdir: Path, result: dict[str, Any]) -> dict[str, Any]:
        if run.params.get("breaks"):
            from labapp.accounts.models import User

            User.objects.create_user("half-made")
            raise RuntimeError("a secret detail")
        return {**result, "shards": len(list(out_folder(workdir).glob("shard-*.txt")))}
