"""From the bytes of a file to the text of a table: pure. Spreadsheets save UTF-8 (marked or not), UTF-16 or Latin-1."""

import codecs
import hashlib
from pathlib import PurePath

from labapp.studies.importing.outcome_tables import TableRefused, table_header
from labapp.studies.importing.tables import TableFile

UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # .xlsx and .ods; .xls
LATIN = "cp1252"


def table_file(name: str, content: bytes) -> TableFile:
    """A table by the name of its file, with its hash and how it was read.

    Raises:
        TableRefused: a workbook, no text, or no header.
    """
    text, encoding = decoded(content)
    table_header(text)
    return TableFile(PurePath(name).name, text, hashlib.sha256(content).hexdigest(), encoding)


def decoded(content: bytes) -> tuple[str, str]:
    """The text, and the encoding that it was in.

    Raises:
        TableRefused: it is no text.
    """
    if content.startswith(WORKBOOKS):
        raise TableRefused("this is a workbook, not a table of text: save its sheet as CSV.")
    try:
        if content.startswith(UTF_16):
            return content.decode("utf-16"), "UTF-16"
        return content.decode("utf-8-sig"), "UTF-8"
    except UnicodeDecodeError as error:
        return _latin(content, error), "Latin-1 (Windows-1252)"


def _latin(content: bytes, error: UnicodeDecodeError) -> str:
    try:
        text = content.decode(LATIN)
    except UnicodeDecodeError:
        text = "\0"
    if any(ord(mark) < 32 and mark not in "\t\n\r\f" for mark in text):
        raise TableRefused(f"it is no text ({error}): save the table as CSV, UTF-8.") from error
    return text
