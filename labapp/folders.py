"""From a run's working folder to a stored episodes folder."""

from dataclasses import dataclass
from pathlib import Path

from labapp import cache, storage
from labapp.episodes import FolderIndex, index_of, index_store
from labapp.runs.kinds import RunError, out_folder
from labapp.runs.models import Run
from robots.errors import DataError


@dataclass(frozen=True)
class StoredEpisodes:
    """An episodes folder in the store, its hash and what is in it."""

    prefix: str
    sha256: str
    index: FolderIndex


def episodes_store(run: Run, folder: Path) -> StoredEpisodes:
    """Store an episodes folder with its index; a folder that the run uploaded as an artifact is not sent again.

    Raises:
        RunError: the folder is not there, is broken, or holds no episode.
    """
    try:
        index = index_of(folder)
    except DataError as error:
        raise RunError(f"The episodes that came out cannot be read: {error}") from error
    if not index.episodes:
        raise RunError("No episode came out; nothing is stored.")
    prefix, sha256 = _uploaded(run, folder) or _upload(run, folder)
    index_store(index, prefix)
    cache.keep_folder(folder, sha256)
    return StoredEpisodes(prefix, sha256, index)


def _uploaded(run: Run, folder: Path) -> tuple[str, str] | None:
    relative = folder.relative_to(out_folder(_workdir_of(run, folder))).as_posix()
    artifact = run.artifacts.filter(path=relative).first()
    return (artifact.prefix, artifact.sha256) if artifact else None


def _upload(run: Run, folder: Path) -> tuple[str, str]:
    stored = storage.put_folder(folder, f"runs/{run.pk}/{folder.name}")
    return stored.prefix, stored.sha256


def _workdir_of(run: Run, folder: Path) -> Path:
    """The working folder of the run that ``folder`` lies in."""
    return next(parent for parent in folder.parents if parent.name == str(run.pk))
