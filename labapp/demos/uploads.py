"""Files on their way in: an upload is a folder of the store under a token that only its owner can use.

A browser sends one request a file, so a large folder shows its progress and a broken connection costs one file.
"""

import io
import json
import re
import uuid
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import IO, Any

from django.core import signing
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile

from labapp import storage
from labapp.accounts.models import User

SALT = "labapp.demos.upload"
ARCHIVE = "archive.zip"
INFO = "meta/info.json"
VERSIONS = ("v2.0", "v2.1", "v3.0")
MAX_UNPACKED_BYTES = 200 << 30
MAX_FILES = 200_000
PATH_PART = re.compile(r"^[\w .,+=@()\[\]-]+$")


def upload_begin(*, owner: User) -> str:
    """A token for a new upload."""
    return signing.dumps({"upload": uuid.uuid4().hex, "owner": owner.pk}, salt=SALT)


def upload_prefix(*, token: str, owner: User) -> str:
    """The store's folder of an upload.

    Raises:
        ValidationError: a token that we never gave to this person.
    """
    try:
        content = signing.loads(token, salt=SALT, max_age=7 * 24 * 3600)
    except signing.BadSignature:
        raise ValidationError(
            {"upload": "This upload is unknown or older than a week; choose the files again."}
        ) from None
    if content["owner"] != owner.pk:
        raise ValidationError({"upload": "This upload belongs to somebody else."})
    return f"uploads/{content['upload']}"


def upload_put(*, token: str, owner: User, path: str, file: UploadedFile) -> storage.StoredFile:
    """Store one file of an upload under its path in the folder."""
    prefix = upload_prefix(token=token, owner=owner)
    return _put(file, f"{prefix}/{clean_path(path)}")


def archive_put(*, owner: User, file: UploadedFile) -> str:
    """Store a whole folder that comes as one zip file; returns the upload's token."""
    token = upload_begin(owner=owner)
    _put(file, f"{upload_prefix(token=token, owner=owner)}/{ARCHIVE}")
    return token


def clean_path(path: str) -> str:
    """A relative path that stays inside its folder.

    Raises:
        ValidationError: it leaves the folder, or has characters that no dataset's files have.
    """
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or not all(PATH_PART.match(part) and part != ".." for part in parts):
        raise ValidationError({"files": f"“{path}” is no path inside a dataset folder."})
    return "/".join(parts)


def check_upload(prefix: str) -> dict[str, Any]:
    """The ``meta/info.json`` of what was uploaded, folder or zip.

    Raises:
        ValidationError: keyed ``files``, naming what is missing or wrong.
    """
    keys = [key.removeprefix(f"{prefix}/") for key in storage.list_keys(f"{prefix}/")]
    if not keys:
        raise ValidationError({"files": "Choose the dataset's folder, or a zip of it."})
    if keys == [ARCHIVE]:
        return _check_archive(f"{prefix}/{ARCHIVE}")
    return parse_info(storage.get_bytes(f"{prefix}/{find_info(keys)}"))


def find_info(names: Iterable[str]) -> str:
    """The path of the one ``meta/info.json``, at most one folder down."""
    found = sorted((n for n in names if n == INFO or n.endswith(f"/{INFO}")), key=lambda n: n.count("/"))
    if not found:
        raise ValidationError(
            {"files": f"There is no {INFO}: choose the dataset's top folder, the one with meta, data and videos in it."}
        )
    return found[0]


def parse_info(text: bytes) -> dict[str, Any]:
    try:
        info = json.loads(text)
        version = str(info["codebase_version"])
    except (ValueError, KeyError, TypeError):
        raise ValidationError({"files": f"{INFO} is broken: it must be JSON with a codebase_version."}) from None
    if version not in VERSIONS:
        raise ValidationError(
            {"files": f"{INFO} says codebase_version {version}; {' and '.join(VERSIONS)} can be read."}
        )
    return info


def fetch(prefix: str, folder: Path) -> Path:
    """Bring an upload into a local folder, unpacked; returns the dataset's top folder."""
    for key in storage.list_keys(f"{prefix}/"):
        relative = key.removeprefix(f"{prefix}/")
        target = folder / relative
        if not target.exists():
            storage.get_file(key, target)
    if (folder / ARCHIVE).exists():
        unpack(folder / ARCHIVE, folder)
        (folder / ARCHIVE).unlink()
    names = [path.relative_to(folder).as_posix() for path in folder.rglob("info.json")]
    return (folder / find_info(names)).parent.parent


def unpack(archive: Path, folder: Path) -> None:
    """Unpack a zip whose every path stays inside ``folder``."""
    with zipfile.ZipFile(archive) as opened:
        _check_sizes(opened.infolist())
        for member in opened.infolist():
            if not member.is_dir():
                target = folder / clean_path(member.filename)
                target.parent.mkdir(parents=True, exist_ok=True)
                with opened.open(member) as source, target.open("wb") as sink:
                    _copy(source, sink)


def _check_archive(key: str) -> dict[str, Any]:
    """Read the zip's directory and its info.json through ranges of the stored object; nothing is unpacked."""
    try:
        with zipfile.ZipFile(StoredObject(key)) as opened:
            members = opened.infolist()
            _check_sizes(members)
            names = [member.filename for member in members if not member.is_dir()]
            for name in names:
                clean_path(name)
            return parse_info(opened.read(find_info(names)))
    except zipfile.BadZipFile:
        raise ValidationError({"files": "This is no zip file, or it is damaged."}) from None


def _check_sizes(members: list[zipfile.ZipInfo]) -> None:
    total = sum(member.file_size for member in members)
    if total > MAX_UNPACKED_BYTES or len(members) > MAX_FILES:
        holds = f"{len(members):,} files and {total / 1e9:.0f} GB unpacked"
        raise ValidationError({"files": f"The zip holds {holds}; that is more than we take."})


def _put(file: UploadedFile, key: str) -> storage.StoredFile:
    """Large uploads already lie in a temporary file; small ones in memory."""
    if hasattr(file, "temporary_file_path"):
        return storage.put_file(Path(file.temporary_file_path()), key)
    return storage.put_bytes(file.read(), key)


def _copy(source: IO[bytes], sink: IO[bytes]) -> None:
    while chunk := source.read(1 << 20):
        sink.write(chunk)


class StoredObject(io.RawIOBase):
    """A stored object as a seekable file, read by ranges."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._size = storage.stat(key).size_bytes
        self._position = 0

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(0, start + offset)
        return self._position

    def read(self, size: int = -1) -> bytes:
        left = max(0, self._size - self._position)
        count = left if size < 0 else min(size, left)
        if not count:
            return b""
        data = b"".join(storage.open_range(self._key, self._position, count))
        self._position += len(data)
        return data
