"""What simulated rollouts left to be watched: episodes folders in the store, their videos and joints."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import transaction

from labapp import storage
from labapp.episodes import EpisodeEntry, index_load, index_of, index_store
from labapp.evaluations.models import Evaluation, RolloutFolder, SimulatedRollout
from labapp.media.models import Media
from labapp.media.services import media_register
from labapp.runs.kinds import RunError
from labapp.runs.models import Run
from labapp.studies.recording import RecordedTable, RecordingMissing
from robots.errors import DataError

EPISODES = "episodes"  # kind of the run's artifacts, and the folder of its output that they lie in


@dataclass(frozen=True)
class RolloutVideo:
    """One view of a rollout, as the player of trials takes it."""

    camera: str
    media: Media


def folders_store(*, run: Run, evaluation: Evaluation, out: Path, paths: set[str]) -> None:
    """A row for every episodes folder of a run; what it uploaded on the way is not sent again.

    Raises:
        RunError: a folder is not there or is broken.
    """
    for path in sorted(paths):
        folder = out / path
        try:
            index = index_of(folder)
        except DataError as error:
            raise RunError(f"The recordings in {path} cannot be read: {error}") from error
        uploaded = run.artifacts.filter(path=path).first() or storage.put_folder(folder, f"runs/{run.pk}/{path}")
        index_store(index, uploaded.prefix)
        facts = {"prefix": uploaded.prefix, "sha256": uploaded.sha256, "size_bytes": uploaded.size_bytes}
        RolloutFolder.objects.update_or_create(evaluation=evaluation, path=path, defaults=facts)


def recordings_remove(*, run: Run | None) -> None:
    """Take what an unfinished evaluation recorded out of the store once its rows are gone.

    While the store is away the files stay, and the run's artifacts tell of them.
    """
    if run is not None:
        transaction.on_commit(lambda: _files_delete(run), robust=True)


def _files_delete(run: Run) -> None:
    storage.delete_prefix(f"runs/{run.pk}/{EPISODES}")
    run.artifacts.filter(kind=EPISODES).delete()


def entry_of(rollout: SimulatedRollout) -> EpisodeEntry | None:
    """What the index of its folder says of a rollout; None where nothing was recorded."""
    if not rollout.is_recorded:
        return None
    return index_load(rollout.folder.prefix, rollout.folder.sha256).entry(rollout.episode)


def table_of(rollout: SimulatedRollout) -> RecordedTable:
    """States and actions of a rollout.

    Raises:
        RecordingMissing: nothing was recorded.
    """
    entry = entry_of(rollout)
    if entry is None:
        raise RecordingMissing("This rollout has no recording.")
    return RecordedTable(rollout.folder.prefix, entry.data)


def videos_of(rollout: SimulatedRollout) -> list[RolloutVideo]:
    """Its views. Their files are for researchers, and for everyone once the study's results are."""
    entry = entry_of(rollout)
    if entry is None or not entry.videos:
        return []
    study = rollout.policy.evaluation.study
    audience = Media.Audience.EVERYONE if study and not study.is_blinded else Media.Audience.RESEARCH
    prefix = rollout.folder.prefix
    files = storage.folder_manifest(prefix)
    return [
        RolloutVideo(view, _media(f"{prefix}/{part.path}", files[part.path], audience))
        for view, part in entry.videos.items()
    ]


def _media(key: str, file: dict[str, Any], audience: Media.Audience) -> Media:
    media = media_register(
        object_key=key,
        kind=Media.Kind.VIDEO,
        content_type="video/mp4",
        sha256=file["sha256"],
        size_bytes=file["size"],
        audience=audience,
    )
    if media.audience != audience:
        media.audience = audience
        media.save(update_fields=["audience"])
    return media


def events_of(rollout: SimulatedRollout) -> list[dict[str, object]]:
    """The stages that the referee saw, as the timeline of a trial has them."""
    entry = entry_of(rollout)
    stages = entry.extra.get("stages") if entry else None
    return [
        {"key": f"stage:{stage}", "kind": "stage", "label": stage, "time_s": time_s, "is_out_of_order": False}
        for stage, time_s in (stages or {}).items()
    ]
