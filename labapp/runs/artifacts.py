"""Finished pieces of a run (shards, checkpoints) on their way to the object store, and back for a retry elsewhere."""

import logging
import queue
import threading
from pathlib import Path

from django.db import connection

from labapp import storage
from labapp.runs.events import Artifact, parse_line
from labapp.runs.kinds import RunError
from labapp.runs.launcher import ARTIFACTS_FILE
from labapp.runs.models import Run, RunArtifact

logger = logging.getLogger(__name__)


def artifact_store(*, run_id: int, out: Path, artifact: Artifact) -> RunArtifact:
    """Upload one file or folder and note it; the same path again replaces it."""
    source = _inside(out, artifact.path)
    if not (source.is_file() or any(path.is_file() for path in source.rglob("*"))):
        raise FileNotFoundError(source)
    relative = _relative(out, artifact.path)
    prefix = f"runs/{run_id}/{relative}"
    if source.is_dir():
        stored = storage.put_folder(source, prefix)
        sha256, size, count = stored.sha256, stored.size_bytes, stored.file_count
    else:
        file = storage.put_file(source, prefix)
        sha256, size, count = file.sha256, file.size_bytes, 0
    row, _ = RunArtifact.objects.update_or_create(
        run_id=run_id,
        path=relative,
        defaults={
            "kind": artifact.kind,
            "prefix": prefix,
            "sha256": sha256,
            "size_bytes": size,
            "file_count": count,
        },
    )
    return row


def artifacts_unstored(*, run: Run, workdir: Path, out: Path) -> list[Artifact]:
    """Pieces that an earlier attempt finished here and whose worker ended before they were stored."""
    journal = workdir / ARTIFACTS_FILE
    if not journal.exists():
        return []
    stored = set(run.artifacts.values_list("path", flat=True))
    events = (parse_line(line) for line in journal.read_text(errors="replace").splitlines())
    told = {_relative(out, event.path): event for event in events if isinstance(event, Artifact)}
    return [event for path, event in told.items() if path not in stored and (out / path).exists()]


def artifacts_restore(*, run: Run, out: Path) -> int:
    """Fetch the stored pieces that this machine lacks (a retry on another worker); returns how many were fetched."""
    fetched = 0
    for artifact in run.artifacts.all():
        target = _inside(out, artifact.path)
        if target.exists():
            continue
        if artifact.file_count:
            _fetch_folder(artifact.prefix, target)
        else:
            storage.get_file(artifact.prefix, target, sha256=artifact.sha256)
        fetched += 1
    return fetched


class Uploader:
    """Uploads artifacts in order on its own thread: an outage of the store does not hold up the command."""

    def __init__(self, run_id: int, out: Path) -> None:
        self.run_id = run_id
        self.out = out
        self.error: Exception | None = None
        self._waiting: queue.Queue[Artifact | None] = queue.Queue()
        self._abandoned = threading.Event()
        self._thread = threading.Thread(target=self._work, name=f"uploads of run {run_id}", daemon=True)
        self._thread.start()

    def add(self, artifact: Artifact) -> None:
        self._waiting.put(artifact)

    def close(self) -> None:
        """No more will come."""
        self._waiting.put(None)

    def join(self, timeout_s: float) -> bool:
        """Wait a while; True once all is stored. Raises what stopped an upload."""
        self._thread.join(timeout_s)
        if self.error is not None:
            raise self.error
        return not self._thread.is_alive()

    def abandon(self, grace_s: float) -> None:
        """Leave what waits to the next attempt; the upload under way may end. Nothing to do once all is stored."""
        self._abandoned.set()
        self.close()
        self._thread.join(grace_s)

    def _work(self) -> None:
        try:
            while (artifact := self._waiting.get()) is not None and not self._abandoned.is_set():
                self._store(artifact)
        except Exception as error:  # handed to the worker's thread by join
            self.error = error
        finally:
            connection.close()

    def _store(self, artifact: Artifact) -> None:
        """A piece that its command replaced meanwhile (shards merged, old checkpoints dropped) is no longer wanted."""
        try:
            artifact_store(run_id=self.run_id, out=self.out, artifact=artifact)
        except FileNotFoundError:
            logger.info("Run %s replaced %s before it was stored", self.run_id, artifact.path)


def _relative(out: Path, path: str) -> str:
    return _inside(out, path).relative_to(out.resolve()).as_posix()


def _fetch_folder(prefix: str, target: Path) -> None:
    """The folder appears complete or not at all: a command takes what lies there for finished."""
    partial = target.with_name(f".{target.name}.fetching")
    storage.get_folder(prefix, partial)
    partial.replace(target)


def _inside(out: Path, relative: str) -> Path:
    path = (out / relative).resolve()
    if not path.is_relative_to(out.resolve()) or path == out.resolve():
        raise RunError(f"The command named {relative!r} as an artifact; it must lie inside its output folder.")
    return path
