"""Checkpoints from the lab, kept on disk under their SHA-256 and checked before use."""

import hashlib
import re
import shutil
import tempfile
import threading
from pathlib import Path
from typing import Any, Protocol

from robots.agent.protocol import CheckpointRef

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,120}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
COMPLETE = ".complete"


class CheckpointError(Exception):
    """A checkpoint that cannot be used; the text is fit for an operator (it names no policy)."""


class Fetcher(Protocol):
    """What downloads: a manifest and single files."""

    def get_json(self, url: str) -> Any: ...

    def download(self, url: str, target: Path) -> None: ...


class CheckpointCache:
    """Folders `root/SHA256/` with the files of a checkpoint, the least recently used ones dropped."""

    def __init__(self, root: Path, fetcher: Fetcher, keep: int = 12) -> None:
        self._root = root
        self._fetcher = fetcher
        self._keep = keep
        self._lock = threading.Lock()
        root.mkdir(parents=True, exist_ok=True)

    def folder(self, ref: CheckpointRef) -> Path:
        """The checkpoint's folder, downloaded when it is not here.

        Raises:
            CheckpointError: a manifest or file that does not match its hash.
        """
        if not _SHA256.fullmatch(ref.sha256):
            raise CheckpointError("The lab named the checkpoint by something that is no SHA-256.")
        folder = self._root / ref.sha256
        with self._lock:
            if not (folder / COMPLETE).exists():
                self._download(ref, folder)
            (folder / COMPLETE).touch()
            self._drop_old()
        return folder

    def _download(self, ref: CheckpointRef, folder: Path) -> None:
        partial = Path(tempfile.mkdtemp(dir=self._root, prefix="partial-"))
        try:
            for entry in self._manifest(ref):
                target = partial / entry["name"]
                self._fetcher.download(entry["url"], target)
                if file_sha256(target) != entry["sha256"]:
                    raise CheckpointError("A file of the checkpoint arrived damaged: its SHA-256 differs.")
            (partial / COMPLETE).touch()
            shutil.rmtree(folder, ignore_errors=True)
            partial.rename(folder)
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def _manifest(self, ref: CheckpointRef) -> list[dict[str, str]]:
        manifest = self._fetcher.get_json(ref.url)
        files = manifest.get("files", []) if isinstance(manifest, dict) else []
        for entry in files:
            if not _NAME.fullmatch(str(entry.get("name"))):
                raise CheckpointError("The lab named a checkpoint file in a way that is no plain file name.")
        if not files or manifest.get("sha256") != ref.sha256:
            raise CheckpointError("The lab's list of checkpoint files does not belong to the checkpoint asked for.")
        return files

    def _drop_old(self) -> None:
        folders = [path for path in self._root.iterdir() if (path / COMPLETE).exists()]
        folders.sort(key=lambda path: (path / COMPLETE).stat().st_mtime)
        for folder in folders[: -self._keep]:
            shutil.rmtree(folder, ignore_errors=True)


def file_sha256(path: Path) -> str:
    """Hex SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
