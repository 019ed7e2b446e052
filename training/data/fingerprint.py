"""A hash of an episodes folder: same hash, same training data."""

from __future__ import annotations

import hashlib
from pathlib import Path


def dataset_fingerprint(root: Path) -> str:
    """SHA-256 over names and contents of tables and metadata, and names and sizes of videos.

    Videos are named and sized only: hashing gigabytes would cost more than it tells, since the tables change with any
    episode.
    """
    digest = hashlib.sha256()
    for path in sorted(p for part in ("meta", "data", "videos") for p in (root / part).rglob("*") if p.is_file()):
        name = path.relative_to(root).as_posix()
        digest.update(f"{name}\0{path.stat().st_size}\0".encode())
        if not name.startswith("videos/"):
            digest.update(path.read_bytes())
    return digest.hexdigest()
