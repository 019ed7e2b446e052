"""Changing demonstration sets."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from labapp.accounts.models import User
from labapp.cells.models import Cell
from labapp.cells.services import check_reachable
from labapp.demos.models import Demonstration, DemonstrationSet
from labapp.demos.params import EpisodeOptions, ImportParams, RecordParams
from labapp.demos.uploads import check_upload, upload_prefix
from labapp.episodes import EpisodeEntry
from labapp.folders import StoredEpisodes
from labapp.names import check_name
from labapp.runs.services import run_create

BATCH = 1000


@transaction.atomic
def demonstrations_record(
    *,
    actor: User | None,
    name: str,
    cell: Cell,
    options: EpisodeOptions,
) -> DemonstrationSet:
    """A set that a run now records on the bench cell.

    Raises:
        ValidationError: a name that cannot be taken, a cell without a bench, an object that is not to be demonstrated.
    """
    name = check_name(DemonstrationSet, name)
    check_reachable(cell)
    check_demonstrated(cell, options.objects)
    made = DemonstrationSet.objects.create(
        name=name, source=DemonstrationSet.Source.BENCH, cell=cell, embodiment=cell.embodiment, created_by=actor
    )
    params = RecordParams(made.pk, options)
    return _attach_run(made, "demos.record", asdict(params), f"Record {options.n} demonstrations: {name}")


@transaction.atomic
def demonstrations_import(
    *, actor: User, name: str, upload: str, cell: Cell | None = None, units: str | None = None
) -> DemonstrationSet:
    """A set that a run now imports from an upload.

    Raises:
        ValidationError: a name that cannot be taken, or an upload that is no dataset, keyed ``files``.
    """
    name = check_name(DemonstrationSet, name)
    prefix = upload_prefix(token=upload, owner=actor)
    info = check_upload(prefix)
    made = DemonstrationSet.objects.create(
        name=name,
        source=DemonstrationSet.Source.IMPORT,
        cell=cell,
        embodiment=str(info.get("robot_type") or "")[:80],
        created_by=actor,
    )
    return _attach_run(made, "demos.import", asdict(ImportParams(made.pk, prefix, units or None)), f"Import {name}")


def _attach_run(made: DemonstrationSet, kind: str, params: dict[str, Any], title: str) -> DemonstrationSet:
    made.run = run_create(kind=kind, params=params, title=title, created_by=made.created_by)
    made.save(update_fields=["run"])
    return made


def check_objects(cell: Cell, names: Sequence[str]) -> None:
    known = cell.cell_objects.values_list("name", flat=True)
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise ValidationError({"objects": f"{cell} has no {', '.join(unknown)}; it has {', '.join(known)}."})


def check_demonstrated(cell: Cell, names: Sequence[str]) -> None:
    """Objects of the cell, none of them novel."""
    check_objects(cell, names)
    novel = cell.cell_objects.filter(is_novel=True, name__in=names).values_list("name", flat=True)
    if novel:
        raise ValidationError({"objects": f"{', '.join(novel)}: novel, kept for trials, never demonstrated."})


@transaction.atomic
def demonstration_set_complete(
    *, demonstration_set: DemonstrationSet, stored: StoredEpisodes, report: dict[str, Any], now: datetime
) -> DemonstrationSet:
    """Fill in what the run brought: where it lies, its hash, its counts and one row an episode."""
    index = stored.index
    made = demonstration_set
    made.prefix, made.sha256 = stored.prefix, stored.sha256
    made.fps, made.views = index.fps, list(index.views)
    made.embodiment = made.embodiment or index.robot_type[:80]
    made.episodes, made.frames, made.episodes_with_video = len(index.episodes), index.frames, index.with_video
    made.report, made.ready_at = report, now
    made.save()
    objects = {found.name: found for found in made.cell.cell_objects.all()} if made.cell else {}
    Demonstration.objects.bulk_create(
        (_demonstration(made, entry, objects) for entry in index.episodes), batch_size=BATCH
    )
    return made


def _demonstration(made: DemonstrationSet, entry: EpisodeEntry, objects: dict[str, Any]) -> Demonstration:
    extra = entry.extra
    return Demonstration(
        demonstration_set=made,
        index=entry.index,
        task=entry.task[:300],
        length=entry.length,
        object=objects.get(str(extra.get("object"))),
        belt_speed=extra.get("belt_speed"),
        outcome=str(extra.get("outcome") or "")[:20],
        has_video=bool(entry.videos),
        extra={name: value for name, value in extra.items() if name != "initial_state"},
    )
