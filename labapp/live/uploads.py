"""A trial's recording from the agent into the object store: file by file, then one list that makes it whole."""

import hashlib
import json
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from django.core.exceptions import ValidationError
from django.db import transaction

from labapp import storage
from labapp.media.models import Media
from labapp.studies.models import Trial, TrialVideo

MAX_FILE_BYTES = 256 * 1024 * 1024
MAX_FILES = 64
_PATH = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9._-]{0,79}/){0,5}[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_CAMERA = re.compile(r"[a-z][a-z0-9_]{0,39}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


def episode_prefix(trial: Trial) -> str:
    """Where a trial's recording lies: named by the trial alone, so the name tells nothing of the policy."""
    return f"trials/{trial.pk}/episode"


def episode_files(trial: Trial) -> dict[str, str]:
    """Files that are here already: relative path to SHA-256."""
    try:
        receipts = storage.get_bytes(_receipts_key(trial))
    except storage.ObjectMissing:
        return {}
    return json.loads(receipts)


def episode_file_store(*, trial: Trial, path: str, sha256: str, chunks: Iterable[bytes]) -> None:
    """Store one file of the recording; the same file again is harmless.

    Raises:
        ValidationError: a path that leaves the folder, a file over the limit, or bytes that do not match the hash.
    """
    check_path(path)
    with tempfile.NamedTemporaryFile() as file:
        digest, size = hashlib.sha256(), 0
        for chunk in chunks:
            size += len(chunk)
            if size > MAX_FILE_BYTES:
                raise ValidationError(f"{path} is larger than {MAX_FILE_BYTES // 2**20} MB.")
            digest.update(chunk)
            file.write(chunk)
        file.flush()
        if digest.hexdigest() != sha256:
            raise ValidationError(
                f"{path} arrived damaged: SHA-256 {digest.hexdigest()}, announced {sha256 or 'none'}."
            )
        storage.put_file(Path(file.name), _key(trial, path), content_type=_content_type(path))
    _note_receipt(trial, path, sha256)


@transaction.atomic
def episode_complete(*, trial: Trial, files: dict[str, str], videos: dict[str, str]) -> Trial:
    """Make the recording whole: every file named is here; each camera's video can be watched. Once, however often sent.

    Raises:
        ValidationError: a file is missing or differs, or a video is not among the files.
    """
    trial = Trial.objects.select_for_update().get(pk=trial.pk)
    if trial.episode_prefix:
        return trial
    _check_complete(files, videos, episode_files(trial))
    entries = {path: {"sha256": sha, "size": storage.stat(_key(trial, path)).size_bytes} for path, sha in files.items()}
    storage.put_bytes(json.dumps(entries).encode(), _key(trial, storage.MANIFEST), content_type="application/json")
    for camera, path in videos.items():
        _video_create(trial, camera, path, entries[path])
    trial.episode_prefix = episode_prefix(trial)
    trial.save(update_fields=["episode_prefix"])
    return trial


def check_path(path: str) -> None:
    """Raises ValidationError unless it is a relative path of plain names."""
    if not _PATH.fullmatch(path) or ".." in PurePosixPath(path).parts:
        raise ValidationError(f"“{path[:80]}” is no relative path of plain names.")


def _check_complete(files: dict[str, str], videos: dict[str, str], here: dict[str, str]) -> None:
    if not files or len(files) > MAX_FILES:
        raise ValidationError(f"A recording has 1 to {MAX_FILES} files, got {len(files)}.")
    for path, sha256 in files.items():
        check_path(path)
        if not _SHA256.fullmatch(str(sha256)):
            raise ValidationError(f"{path}: {sha256!r} is no SHA-256.")
        if here.get(path) != sha256:
            raise ValidationError(f"{path} is not here, or differs: send it first.")
    for camera, path in videos.items():
        if not _CAMERA.fullmatch(camera) or path not in files:
            raise ValidationError(f"The video of camera “{camera[:40]}” is not among the files: {str(path)[:120]}.")


def _video_create(trial: Trial, camera: str, path: str, entry: dict) -> None:
    media, _ = Media.objects.get_or_create(
        object_key=_key(trial, path),
        defaults={
            "kind": Media.Kind.VIDEO,
            "content_type": "video/mp4",
            "size_bytes": entry["size"],
            "sha256": entry["sha256"],
            "original_name": f"{camera}.mp4",
        },
    )
    TrialVideo.objects.get_or_create(trial=trial, camera=camera, defaults={"media": media})


def _note_receipt(trial: Trial, path: str, sha256: str) -> None:
    receipts = episode_files(trial) | {path: sha256}
    storage.put_bytes(json.dumps(receipts).encode(), _receipts_key(trial), content_type="application/json")


def _receipts_key(trial: Trial) -> str:
    return f"trials/{trial.pk}/received.json"


def _key(trial: Trial, path: str) -> str:
    return f"{episode_prefix(trial)}/{path}"


def _content_type(path: str) -> str:
    return "video/mp4" if path.endswith(".mp4") else "application/octet-stream"
