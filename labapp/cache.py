"""Folders of the object store on this machine, found again by their hash.

A folder is fetched beside its place and moved there whole, so that two processes never see half of one.
"""

import shutil
import uuid
from pathlib import Path

from django.conf import settings

from labapp import storage


def _root() -> Path:
    return settings.VAR_DIR / "cache"


def folder(prefix: str, sha256: str) -> Path:
    """The whole stored folder.

    Raises:
        ObjectDamaged: what the store holds under ``prefix`` is not what the row's hash says.
    """
    target = _root() / "folders" / sha256
    if target.is_dir():
        return target
    partial = target.with_name(f"{sha256}.{uuid.uuid4().hex}")
    try:
        found = storage.get_folder(prefix, partial)
        if found.sha256 != sha256:
            raise storage.ObjectDamaged(f"{prefix} has SHA-256 {found.sha256}, but {sha256} was stored.")
        partial.rename(target)
    except OSError:
        if not target.is_dir():
            raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return target


def keep_folder(source: Path, sha256: str) -> Path:
    """Put a folder that was just stored into the cache: the next run on this machine fetches nothing."""
    target = _root() / "folders" / sha256
    if not target.is_dir():
        partial = target.with_name(f"{sha256}.{uuid.uuid4().hex}")
        shutil.copytree(source, partial)
        try:
            partial.rename(target)
        except OSError:
            shutil.rmtree(partial, ignore_errors=True)
    return target


def files(prefix: str, sha256: str, names: list[str]) -> Path:
    """A folder with at least these files of the stored one, for a page that shows one episode of many."""
    whole = _root() / "folders" / sha256
    if whole.is_dir():
        return whole
    part = _root() / "parts" / sha256
    known = storage.folder_manifest(prefix) if any(not (part / name).exists() for name in names) else {}
    for name in names:
        if not (part / name).exists():
            storage.get_file(f"{prefix}/{name}", part / name, sha256=known[name]["sha256"])
    return part
