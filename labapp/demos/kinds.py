"""Runs that make demonstration sets."""

import shutil
import sys
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from labapp import storage
from labapp.demos import media, uploads
from labapp.demos.models import DemonstrationSet
from labapp.demos.params import ImportParams, RecordParams
from labapp.demos.services import demonstration_set_complete
from labapp.folders import episodes_store
from labapp.runs.kinds import RunError, RunKind, out_folder, params_of, register, room_command, row_of
from labapp.runs.models import Run
from robots.config import to_json


def set_of(pk: int) -> DemonstrationSet:
    return row_of(DemonstrationSet.objects.select_related("cell"), pk, "demonstration_set")


@register
class RecordDemonstrations(RunKind):
    """The scripted demonstrator works on the bench cell, through its drivers."""

    name, label, queue = "demos.record", "Record demonstrations", "generation"

    def prepare(self, run: Run, workdir: Path) -> list[str]:
        params = params_of(RecordParams, run)
        made = set_of(params.demonstration_set)
        config = to_json(params.options) | {"bench_seed": made.cell.bench_seed}
        return room_command("robots", "record", workdir, config)

    def finish(self, run: Run, workdir: Path, result: dict[str, Any]) -> dict[str, Any]:
        made = set_of(params_of(RecordParams, run).demonstration_set)
        stored = episodes_store(run, episodes_of(out_folder(workdir)))
        demonstration_set_complete(demonstration_set=made, stored=stored, report=result, now=timezone.now())
        return set_result(made)


@register
class ImportDemonstrations(RunKind):
    """An uploaded LeRobot folder, checked episode by episode."""

    name, label, queue = "demos.import", "Import demonstrations", "default"

    def prepare(self, run: Run, workdir: Path) -> list[str]:
        params = params_of(ImportParams, run)
        try:
            source = uploads.fetch(params.upload, workdir / "source")
        except ValidationError as error:
            raise RunError(" ".join(error.messages), "files") from error
        target = out_folder(workdir) / "episodes"
        shutil.rmtree(target, ignore_errors=True)
        command = [sys.executable, "-m", "robots", "episodes", "import", str(source), str(target), "--events"]
        return command + (["--units", params.units] if params.units else [])

    def finish(self, run: Run, workdir: Path, result: dict[str, Any]) -> dict[str, Any]:
        params = params_of(ImportParams, run)
        made = set_of(params.demonstration_set)
        folder = out_folder(workdir) / "episodes"
        stored = episodes_store(run, folder)
        report = {name: value for name, value in result.items() if name != "source"}  # a folder of this worker
        demonstration_set_complete(demonstration_set=made, stored=stored, report=report, now=timezone.now())
        media.proxies_make(made, stored.index, folder)
        transaction.on_commit(lambda: storage.delete_prefix(params.upload))
        return set_result(made)


def episodes_of(out: Path) -> Path:
    """The episodes folder of a run: `out/episodes`, or `out` itself."""
    return out / "episodes" if (out / "episodes" / "meta").is_dir() else out


def set_result(made: DemonstrationSet) -> dict[str, Any]:
    return {
        "demonstration_set": made.name,
        "episodes": made.episodes,
        "frames": made.frames,
        "episodes_with_video": made.episodes_with_video,
        "url": made.get_absolute_url(),
    }
