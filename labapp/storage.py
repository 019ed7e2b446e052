"""The one module that talks to the object store (minio SDK).

Every call waits through an outage with growing pauses, up to ``OBJECT_STORE.retry_seconds``. A folder is stored file by
file and closed by a manifest of SHA-256 sums, written last: a folder without a manifest was never finished.
"""

import hashlib
import io
import json
import mimetypes
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import urllib3
from django.conf import settings
from minio import Minio
from minio.deleteobjects import DeleteObject
from minio.error import InvalidResponseError, S3Error, ServerError

from labapp.settings.backends import ObjectStore

CHUNK = 1 << 20
PART_SIZE = 64 << 20
REGION = "us-east-1"
MANIFEST = "_manifest.json"
MISSING_CODES = ("NoSuchKey", "NoSuchBucket", "NoSuchObject", "NotFound")
T = TypeVar("T")


class StoreUnavailable(RuntimeError):
    """The object store did not answer for as long as we are willing to wait."""


class StoreRefused(RuntimeError):
    """The object store does not accept our key or our request."""


class ObjectMissing(LookupError):
    """There is no such object."""


class ObjectDamaged(RuntimeError):
    """The bytes are not those that were stored."""


@dataclass(frozen=True)
class StoredFile:
    key: str
    sha256: str
    size_bytes: int


@dataclass(frozen=True)
class StoredFolder:
    """``sha256`` is the hash of the manifest: the sorted lines ``<sha256>  <relative path>``."""

    prefix: str
    sha256: str
    size_bytes: int
    file_count: int


@dataclass(frozen=True)
class ObjectInfo:
    size_bytes: int
    content_type: str
    etag: str


def put_file(path: Path, key: str, *, content_type: str | None = None) -> StoredFile:
    """Store a local file under a key, replacing what is there."""
    kind = content_type or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    _retry(lambda c: c.fput_object(_bucket(), key, str(path), content_type=kind, part_size=PART_SIZE))
    return StoredFile(key, file_sha256(path), path.stat().st_size)


def put_bytes(data: bytes, key: str, *, content_type: str = "application/octet-stream") -> StoredFile:
    _retry(lambda c: c.put_object(_bucket(), key, io.BytesIO(data), len(data), content_type=content_type))
    return StoredFile(key, hashlib.sha256(data).hexdigest(), len(data))


def get_bytes(key: str) -> bytes:
    return _retry(lambda c: _read(c, key))


def get_file(key: str, path: Path, *, sha256: str = "") -> Path:
    """Fetch an object into a file; it appears there complete, and with the given hash, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    _retry(lambda c: c.fget_object(_bucket(), key, str(partial), tmp_file_path=f"{partial}.{time.monotonic_ns()}"))
    found = file_sha256(partial)
    if sha256 and found != sha256:
        partial.unlink()
        raise ObjectDamaged(f"{key} has SHA-256 {found}, but {sha256} was stored.")
    return partial.replace(path)


def put_folder(folder: Path, prefix: str) -> StoredFolder:
    """Store every file of a folder under ``prefix/``, then the manifest."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if not files:
        raise ValueError(f"{folder} holds no file; an empty folder is not stored.")
    entries = {}
    for path in files:
        relative = path.relative_to(folder).as_posix()
        stored = put_file(path, f"{prefix}/{relative}")
        entries[relative] = {"sha256": stored.sha256, "size": stored.size_bytes}
    put_bytes(json.dumps(entries, indent=0).encode(), f"{prefix}/{MANIFEST}", content_type="application/json")
    return _folder(prefix, entries)


def get_folder(prefix: str, folder: Path) -> StoredFolder:
    """Fetch a stored folder, checking every hash; files that are there already and right are kept."""
    entries = folder_manifest(prefix)
    for relative, entry in entries.items():
        target = _inside(folder, relative)
        if not (target.exists() and file_sha256(target) == entry["sha256"]):
            get_file(f"{prefix}/{relative}", target, sha256=entry["sha256"])
    return _folder(prefix, entries)


def folder_manifest(prefix: str) -> dict[str, dict[str, Any]]:
    """Relative path -> ``{"sha256", "size"}`` of a stored folder."""
    return json.loads(get_bytes(f"{prefix}/{MANIFEST}"))


def stat(key: str) -> ObjectInfo:
    found = _retry(lambda c: c.stat_object(_bucket(), key))
    return ObjectInfo(found.size or 0, found.content_type or "application/octet-stream", found.etag or "")


def exists(key: str) -> bool:
    try:
        stat(key)
    except ObjectMissing:
        return False
    return True


def open_range(key: str, start: int = 0, length: int = 0) -> Iterator[bytes]:
    """The object's bytes from ``start``, ``length`` of them (0: to the end), in chunks."""
    response = _retry(lambda c: c.get_object(_bucket(), key, offset=start, length=length))
    try:
        yield from response.stream(CHUNK)
    finally:
        response.close()
        response.release_conn()


def list_keys(prefix: str) -> list[str]:
    return _retry(lambda c: [item.object_name for item in c.list_objects(_bucket(), prefix=prefix, recursive=True)])


def delete_prefix(prefix: str) -> int:
    """Delete every object under ``prefix/``; returns how many there were."""
    keys = list_keys(prefix.rstrip("/") + "/")
    errors = _retry(lambda c: list(c.remove_objects(_bucket(), [DeleteObject(key) for key in keys])))
    if errors:
        raise StoreUnavailable(f"{len(errors)} objects under {prefix} were not deleted; first: {errors[0]}")
    return len(keys)


def ensure_bucket() -> None:
    if not _retry(lambda c: c.bucket_exists(_bucket())):
        _retry(lambda c: c.make_bucket(_bucket()))


def file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _folder(prefix: str, entries: dict[str, dict[str, Any]]) -> StoredFolder:
    lines = "".join(f"{entry['sha256']}  {path}\n" for path, entry in sorted(entries.items()))
    size = sum(entry["size"] for entry in entries.values())
    return StoredFolder(prefix, hashlib.sha256(lines.encode()).hexdigest(), size, len(entries))


def _inside(folder: Path, relative: str) -> Path:
    target = (folder / relative).resolve()
    if not target.is_relative_to(folder.resolve()):
        raise ObjectDamaged(f"The manifest names {relative!r}, which lies outside the folder.")
    return target


def _read(client: Minio, key: str) -> bytes:
    response = client.get_object(_bucket(), key)
    try:
        return response.read()
    finally:
        response.close()
        response.release_conn()


def _bucket() -> str:
    return settings.OBJECT_STORE.bucket


@lru_cache(maxsize=8)
def _client(store: ObjectStore) -> Minio:
    parts = urlsplit(store.endpoint)
    timeout = urllib3.Timeout(connect=5, read=60)
    return Minio(
        parts.netloc,
        access_key=store.access_key,
        secret_key=store.secret_key,
        secure=parts.scheme == "https",
        region=REGION,
        http_client=urllib3.PoolManager(maxsize=10, timeout=timeout, retries=False),
    )


def _retry(call: Callable[[Minio], T]) -> T:
    store = settings.OBJECT_STORE
    deadline = time.monotonic() + store.retry_seconds
    pause = 0.2
    while True:
        try:
            return call(_client(store))
        except (urllib3.exceptions.HTTPError, ServerError, S3Error, InvalidResponseError) as error:
            _raise_if_final(error)
            if time.monotonic() + pause > deadline:
                message = f"The object store at {store.endpoint} did not answer for {store.retry_seconds:g} s: {error}"
                raise StoreUnavailable(message) from error
        time.sleep(pause)
        pause = min(5.0, pause * 1.7)


def _raise_if_final(error: Exception) -> None:
    """Only an outage is worth waiting for; a missing object or a refused key stays so."""
    if isinstance(error, S3Error):
        status, code = error.response.status, error.code
    elif isinstance(error, InvalidResponseError):
        status, code = error._code, ""
    else:
        return
    if status == 404 or code in MISSING_CODES:
        raise ObjectMissing(f"The object store has no such object: {error}") from error
    if status < 500:
        raise StoreRefused(f"The object store refused ({status} {code}); check S3_ACCESS_KEY: {error}") from error
