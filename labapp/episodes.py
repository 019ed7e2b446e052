"""Stored episodes folders for pages: an index of what is inside, and the few files that one episode needs.

The index is written by the worker that made the folder, beside it in the store, so that a page about one episode of
thousands fetches two small files.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from labapp import cache, storage
from robots.config import from_json
from robots.episodes import EpisodesReader

IMAGE_PREFIX = "observation.images."


@dataclass(frozen=True)
class VideoPart:
    """Where an episode's video of one camera lies: a file of the folder, and the seconds in it."""

    path: str
    from_s: float
    to_s: float


@dataclass(frozen=True)
class EpisodeEntry:
    index: int
    length: int
    task: str
    data: str
    meta: str
    videos: dict[str, VideoPart] = field(default_factory=dict)
    missing_views: tuple[str, ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class FolderIndex:
    fps: float
    robot_type: str
    views: tuple[str, ...]
    episodes: tuple[EpisodeEntry, ...]

    @property
    def frames(self) -> int:
        return sum(entry.length for entry in self.episodes)

    @property
    def with_video(self) -> int:
        return sum(bool(entry.videos) for entry in self.episodes)

    def entry(self, index: int) -> EpisodeEntry | None:
        return next((entry for entry in self.episodes if entry.index == index), None)


def view_name(key: str) -> str:
    """``observation.images.head`` is the view ``head``."""
    return key.removeprefix(IMAGE_PREFIX)


def index_of(root: Path) -> FolderIndex:
    """The index of a local episodes folder."""
    reader = EpisodesReader(root)
    meta = dict(_meta_files(root))
    return FolderIndex(
        fps=reader.fps,
        robot_type=reader.robot_type or "",
        views=tuple(view_name(key) for key in reader.cameras),
        episodes=tuple(_entry(root, row, meta[row.index]) for row in reader.episodes),
    )


def index_store(index: FolderIndex, prefix: str) -> None:
    data = json.dumps(asdict(index), allow_nan=False, default=str).encode()
    storage.put_bytes(data, _index_key(prefix), content_type="application/json")


@lru_cache(maxsize=32)
def index_load(prefix: str, sha256: str) -> FolderIndex:
    """The index of a stored folder; folders never change, so the hash makes it safe to keep."""
    return from_json(FolderIndex, json.loads(storage.get_bytes(_index_key(prefix))))


def episode_folder(prefix: str, sha256: str, entry: EpisodeEntry) -> Path:
    """A local folder in which this one episode can be read (without its videos)."""
    return cache.files(prefix, sha256, ["meta/info.json", entry.meta, entry.data])


def _index_key(prefix: str) -> str:
    return f"{prefix.rstrip('/')}.index.json"


def _meta_files(root: Path) -> Iterator[tuple[int, str]]:
    """Episode index -> the file of the episodes table that it stands in."""
    import pyarrow.parquet as pq

    for path in sorted(root.glob("meta/episodes/**/*.parquet")):
        for index in pq.read_table(path, columns=["episode_index"])["episode_index"].to_pylist():
            yield index, path.relative_to(root).as_posix()


def _entry(root: Path, row: Any, meta: str) -> EpisodeEntry:
    present = {key: span for key, span in row.videos.items() if row.has_video.get(key)}
    return EpisodeEntry(
        index=row.index,
        length=row.length,
        task=row.task,
        data=row.data_path.relative_to(root).as_posix(),
        meta=meta,
        videos={
            view_name(key): VideoPart(span.path.relative_to(root).as_posix(), span.from_s, span.to_s)
            for key, span in present.items()
        },
        missing_views=tuple(view_name(key) for key, is_there in row.has_video.items() if not is_there),
        extra=_plain(row.extra),
    )


def _plain(extra: dict[str, Any]) -> dict[str, Any]:
    """JSON text of a column as what it says; everything else as it is."""
    return {name: _parsed(value) for name, value in extra.items()}


def _parsed(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value
