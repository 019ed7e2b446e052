"""Videos of stored episodes as media rows: the stored file itself, or an H.264 copy where browsers need one."""

import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from labapp import storage
from labapp.demos.models import DemonstrationSet
from labapp.episodes import IMAGE_PREFIX, EpisodeEntry, FolderIndex, view_name
from labapp.media.models import Media
from labapp.media.services import media_register
from robots.episodes import EpisodesReader
from robots.episodes.proxy import write_clip

MP4 = "video/mp4"


@dataclass(frozen=True)
class EpisodeVideo:
    """A view's video: where to get it, and the part of it that is this episode."""

    view: str
    url: str
    from_s: float
    to_s: float


def episode_videos(prefix: str, sha256: str, entry: EpisodeEntry, proxied: set[str]) -> list[EpisodeVideo]:
    """The episode's videos in the order of the views; ``proxied`` views play their H.264 copy."""
    found = []
    for view, part in entry.videos.items():
        if view in proxied:
            media = Media.objects.get(object_key=proxy_key(prefix, entry.index, view))
            found.append(EpisodeVideo(view, media.get_absolute_url(), 0.0, part.to_s - part.from_s))
        else:
            file = _manifest(prefix, sha256)[part.path]
            media = _register(f"{prefix}/{part.path}", file["sha256"], file["size"])
            found.append(EpisodeVideo(view, media.get_absolute_url(), part.from_s, part.to_s))
    return found


def proxied_views(demonstration_set: DemonstrationSet) -> set[str]:
    return {view_name(key) for key in demonstration_set.report.get("needs_proxy", [])}


def proxies_make(demonstration_set: DemonstrationSet, index: FolderIndex, folder: Path) -> int:
    """Store H.264 copies of every episode's videos in the views that need one; returns how many were made."""
    wanted = proxied_views(demonstration_set)
    clips = [(entry, view) for entry in index.episodes for view in wanted & set(entry.videos)]
    reader = EpisodesReader(folder)
    for entry, view in clips:
        _proxy_make(reader, demonstration_set.prefix, entry.index, view)
    return len(clips)


def proxy_key(prefix: str, index: int, view: str) -> str:
    return f"{prefix}.proxy/{index}/{view}.mp4"


def _proxy_make(reader: EpisodesReader, prefix: str, index: int, view: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        clip = write_clip(reader, index, IMAGE_PREFIX + view, Path(folder) / "clip.mp4")
        key = proxy_key(prefix, index, view)
        stored = storage.put_file(clip, key, content_type=MP4)
    _register(key, stored.sha256, stored.size_bytes)


def _register(key: str, sha256: str, size: int) -> Media:
    return media_register(
        object_key=key,
        kind=Media.Kind.VIDEO,
        content_type=MP4,
        sha256=sha256,
        size_bytes=size,
        audience=Media.Audience.RESEARCH,
    )


@lru_cache(maxsize=16)
def _manifest(prefix: str, sha256: str) -> dict[str, dict[str, Any]]:
    """A stored folder never changes: its hash makes it safe to keep."""
    return storage.folder_manifest(prefix)
