"""Uploaded tables between upload and mapping: kept a day in the cache, for the person who sent them."""

import uuid
from collections.abc import Sequence
from itertools import islice

from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile

from labapp.accounts.models import User
from labapp.studies.importing.decoding import table_file
from labapp.studies.importing.outcome_tables import Lines, TableRefused, table_header
from labapp.studies.importing.tables import TableFile

KEPT_S = 24 * 3600
LARGEST_BYTES = 16 * 1024 * 1024
MOST_FILES = 20


def read_upload(file: UploadedFile) -> TableFile:
    """The text of an uploaded table.

    Raises:
        ValidationError: too large, no text, or no header; the message names the file.
    """
    if file.size > LARGEST_BYTES:
        raise ValidationError(
            f"{file.name} is larger than {LARGEST_BYTES // 2**20} MB: import it with manage.py import_outcomes."
        )
    try:
        return table_file(file.name, file.read())
    except TableRefused as error:
        raise ValidationError(f"{file.name} is no table: {error}") from error


def read_uploads(files: Sequence[UploadedFile]) -> list[TableFile]:
    """All uploaded tables.

    Raises:
        ValidationError: none, too many, two of one name, or one that is no table.
    """
    if not 1 <= len(files) <= MOST_FILES:
        raise ValidationError(f"Choose between one and {MOST_FILES} CSV files.")
    names = [file.name for file in files]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValidationError(f"Two files are called {twice[0]}; rename one.")
    return [read_upload(file) for file in files]


def keep(files: Sequence[TableFile], user: User) -> str:
    """Put the tables aside; returns the key under which this person finds them."""
    key = uuid.uuid4().hex
    cache.set(_name(key, user), [tuple(file) for file in files], KEPT_S)
    return key


def kept(key: str, user: User) -> list[TableFile] | None:
    """The tables under a key, None where they are gone or another person's."""
    found = cache.get(_name(key, user))
    return None if found is None else [TableFile(*file) for file in found]


def forget(key: str, user: User) -> None:
    cache.delete(_name(key, user))


def _name(key: str, user: User) -> str:
    return f"outcome-import:{user.pk}:{key}"


def first_records(file: TableFile, count: int) -> list[dict[str, str]]:
    """The first rows of a table by column; short rows are filled with nothing."""
    header = table_header(file.text)
    lines = Lines(file.text)
    next(lines)
    rows = islice((line for line in lines if any(value.strip() for value in line)), count)
    return [dict(zip(header, [*row, *[""] * len(header)], strict=False)) for row in rows]
