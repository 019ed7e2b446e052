"""Decoded frames on disk, built once per dataset and size, read through a memory map."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from robots.episodes import EpisodesReader
from robots.errors import DataError
from robots.progress import Progress
from training.data.grid import nearest_rows

KEEP_BYTES = 20e9


@dataclass(frozen=True)
class FrameRequest:
    """What identifies one cache.

    Attributes:
        fingerprint: of the dataset.
        views: feature keys of the cameras.
        episodes: episode numbers, in the order of the windows.
        ticks: 50 Hz ticks of each episode at which a window starts, and so a frame is needed.
        size: side of the stored images [px].
    """

    fingerprint: str
    views: tuple[str, ...]
    episodes: tuple[int, ...]
    ticks: tuple[np.ndarray, ...]
    size: int

    @property
    def count(self) -> int:
        """Frames per view."""
        return sum(len(t) for t in self.ticks)

    @property
    def folder(self) -> str:
        """Name that changes with anything that changes the pixels."""
        text = json.dumps([self.views, self.episodes, [t.tolist() for t in self.ticks]])
        return f"{self.fingerprint[:16]}-{self.size}px-{_short_hash(text)}"


def default_cache_dir() -> Path:
    """`GROUNDLAB_CACHE`, or the user's cache folder."""
    base = os.environ.get("GROUNDLAB_CACHE") or Path(
        os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"), "groundlab"
    )
    return Path(base) / "frames"


def open_frames(reader: EpisodesReader, request: FrameRequest, cache_dir: Path, progress: Progress) -> np.ndarray:
    """Frames of every window start, uint8 (N, V, S, S, 3), read-only; decodes the videos when they are not cached.

    Two processes may build the same cache: each writes its own folder, the first rename wins.
    """
    final = cache_dir / request.folder
    if not (final / "frames.u8").is_file():
        _build(reader, request, final, progress)
        _evict(cache_dir, keep=final)
    os.utime(final)
    shape = (request.count, len(request.views), request.size, request.size, 3)
    return np.memmap(final / "frames.u8", np.uint8, "r", shape=shape)


def _build(reader: EpisodesReader, request: FrameRequest, final: Path, progress: Progress) -> None:
    final.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=".building-", dir=final.parent))
    try:
        with (partial / "frames.u8").open("wb") as out:
            for i, (episode, ticks) in enumerate(zip(request.episodes, request.ticks, strict=True)):
                out.write(_episode_frames(reader, episode, ticks, request).tobytes())
                progress.progress(i + 1, len(request.episodes), "episodes decoded")
        if not final.exists():
            partial.replace(final)
    except OSError:
        if not (final / "frames.u8").is_file():
            raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _episode_frames(reader: EpisodesReader, episode: int, ticks: np.ndarray, request: FrameRequest) -> np.ndarray:
    """(n, V, S, S, 3): for each tick the frame nearest in time."""
    length = next(row.length for row in reader.episodes if row.index == episode)
    rows = nearest_rows(ticks, length, reader.fps)
    views = [_read_rows(reader, episode, key, rows) for key in request.views]
    return np.stack([resize(view, request.size) for view in views], 1)


def _read_rows(reader: EpisodesReader, episode: int, key: str, rows: np.ndarray) -> np.ndarray:
    step = int(rows[1] - rows[0]) if len(rows) > 1 else 1
    is_even = len(rows) < 2 or bool((np.diff(rows) == step).all())
    if is_even and step > 0:
        frames = reader.video_frames(episode, key, int(rows[0]), int(rows[-1]) + 1, step)
        wanted = len(rows)
    else:
        frames = reader.video_frames(episode, key, 0, int(rows[-1]) + 1, 1)
        wanted = int(rows[-1]) + 1
    if len(frames) < wanted:
        raise DataError(f"episode {episode}, {key}: {len(frames)} frames decoded where {wanted} are needed")
    return frames if is_even and step > 0 else frames[rows]


def resize(images: np.ndarray, size: int) -> np.ndarray:
    """Square images of the asked size by area averaging: uint8 (n, H, W, 3) to (n, size, size, 3)."""
    if images.shape[1:3] == (size, size):
        return images
    return np.stack([cv2.resize(image, (size, size), interpolation=cv2.INTER_AREA) for image in images])


def _evict(cache_dir: Path, keep: Path) -> None:
    """Remove caches unused for longest until the rest fits `KEEP_BYTES`."""
    folders = sorted((p for p in cache_dir.iterdir() if (p / "frames.u8").is_file()), key=lambda p: p.stat().st_mtime)
    total = sum((p / "frames.u8").stat().st_size for p in folders)
    for folder in folders:
        if total <= KEEP_BYTES:
            return
        if folder != keep:
            total -= (folder / "frames.u8").stat().st_size
            shutil.rmtree(folder, ignore_errors=True)


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
