"""The Range header of RFC 9110, one range only: what video players send."""

import re
from dataclasses import dataclass

PATTERN = re.compile(r"^bytes=(\d*)-(\d*)$")


class RangeNotSatisfiable(ValueError):
    """The range starts after the end."""


@dataclass(frozen=True)
class ByteRange:
    start: int
    stop: int  # exclusive

    @property
    def length(self) -> int:
        return self.stop - self.start

    def header(self, size: int) -> str:
        return f"bytes {self.start}-{self.stop - 1}/{size}"


def parse_range(header: str, size: int) -> ByteRange | None:
    """None for no range, or for a form that a server may ignore (several ranges, other units)."""
    match = PATTERN.match(header.strip())
    if match is None or match.groups() == ("", ""):
        return None
    first, last = match.groups()
    if not first:  # the last N bytes
        start, stop = max(0, size - int(last)), size
    else:
        start, stop = int(first), min(size, int(last) + 1) if last else size
    if start >= size or (first and last and int(last) < int(first)):
        raise RangeNotSatisfiable(f"The file has {size} bytes; {header!r} lies outside.")
    return ByteRange(start, stop)
