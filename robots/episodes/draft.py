"""One episode being written: rows are checked as they come, frames go straight to the encoder."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robots.episodes.features import DEFAULT_FEATURES, Feature
from robots.episodes.stats import PixelStats, Stats, column_stats
from robots.episodes.video import VideoEncoding, VideoWriter
from robots.errors import DataError

PIXEL_STATS_PER_S = 5.0


@dataclass(frozen=True)
class StagedEpisode:
    """A complete episode, waiting to be moved into the folder.

    Attributes:
        task: instruction text.
        columns: arrays (T, ...) of the declared features, and timestamp.
        videos: camera -> mp4 in the staging folder; cameras without a video are left out.
        stats: statistics of columns and cameras.
    """

    task: str
    columns: dict[str, NDArray[Any]]
    videos: dict[str, Path]
    stats: dict[str, Stats]

    @property
    def length(self) -> int:
        """Rows."""
        return len(self.columns["timestamp"])


class EpisodeDraft:
    """Context manager of one open episode; leaving it without `commit` (or by an exception) leaves nothing behind."""

    def __init__(
        self,
        *,
        task: str,
        features: Mapping[str, Feature],
        fps: float,
        encoding: VideoEncoding,
        staging: Path,
        publish: Callable[[StagedEpisode, Mapping[str, Any]], int],
        close: Callable[[], None],
    ) -> None:
        self.task = task
        self.rows = 0
        self._features = {name: f for name, f in features.items() if name not in DEFAULT_FEATURES}
        self._fps, self._encoding, self._staging = fps, encoding, staging
        self._publish, self._close = publish, close
        self._buffers: dict[str, list[NDArray[Any]]] = {
            name: [] for name, f in self._features.items() if not f.is_video
        }
        self._timestamps: list[NDArray[np.float64]] = []
        self._writers: dict[str, VideoWriter] = {}
        self._pixels: dict[str, PixelStats] = {}
        self._attached: dict[str, Stats | None] = {}
        self._missing: set[str] = set()
        self._is_open = True

    def add(self, frame: Mapping[str, Any]) -> None:
        """Append one row: a value per declared feature, RGB uint8 (H, W, 3) for a camera.

        Raises:
            DataError: missing or unknown feature, wrong shape, or a number that is not finite, naming row and entry.
        """
        self._check_names(frame)
        for name, values in frame.items():
            feature = self._features[name]
            if feature.is_video:
                self._add_image(name, feature, np.asarray(values))
            else:
                self._buffers[name].append(self._checked(name, feature, np.asarray(values)[None]))
        self._timestamps.append(np.array([self.rows / self._fps]))
        self.rows += 1

    def add_rows(self, columns: Mapping[str, Any], timestamps: NDArray[Any] | None = None) -> None:
        """Append many rows at once: an array (T, ...) per declared feature, images (T, H, W, 3) for a camera.

        Args:
            columns: as for `add`, with a leading row axis; attached cameras are left out.
            timestamps: (T,) seconds since the start of the episode; row / fps when left out.

        Raises:
            DataError: as `add`, or columns of different lengths.
        """
        self._check_names(columns)
        arrays = {name: np.asarray(values) for name, values in columns.items()}
        lengths = {name: len(array) for name, array in arrays.items()}
        if len(set(lengths.values())) != 1:
            raise DataError(f"columns have different numbers of rows: {lengths}")
        count = next(iter(lengths.values()))
        for name, array in arrays.items():
            feature = self._features[name]
            if feature.is_video:
                for offset, image in enumerate(array):
                    self._add_image(name, feature, image, self.rows + offset)
            else:
                self._buffers[name].append(self._checked(name, feature, array))
        times = np.arange(self.rows, self.rows + count) / self._fps if timestamps is None else np.asarray(timestamps)
        self._timestamps.append(times.astype(np.float64))
        self.rows += count

    def attach_video(self, key: str, path: Path, stats: Stats | None) -> None:
        """Use an existing video file (copied byte for byte) for a camera instead of frames."""
        self._require_camera(key)
        shutil.copyfile(path, self._video_path(key))
        self._attached[key] = stats

    def miss_video(self, key: str) -> None:
        """Say that this episode has no video of a camera: it keeps its rows and is marked."""
        self._require_camera(key)
        self._missing.add(key)

    def commit(self, extra: Mapping[str, Any] | None = None) -> int:
        """Make the episode part of the folder.

        Args:
            extra: further facts; numbers, booleans and text become columns, anything else JSON text.

        Returns:
            the episode's index.

        Raises:
            DataError: no row, or a camera whose frames don't match the rows.
        """
        if not self._is_open:
            raise DataError("this episode is already committed or aborted")
        index = self._publish(self._staged(), extra or {})
        self._end()
        return index

    def abort(self) -> None:
        """Drop the episode."""
        if self._is_open:
            self._end()

    def __enter__(self) -> "EpisodeDraft":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.abort()

    def _staged(self) -> StagedEpisode:
        if self.rows == 0:
            raise DataError("an episode needs at least one row")
        self._close_writers()
        columns = {name: np.concatenate(parts) for name, parts in self._buffers.items()}
        columns["timestamp"] = np.concatenate(self._timestamps).astype(np.float32)
        stats = {name: column_stats(values) for name, values in columns.items() if self._is_numeric(name)}
        stats |= {key: found for key in self._pixels if (found := self._pixels[key].result()) is not None}
        stats |= {key: found for key, found in self._attached.items() if found is not None}
        return StagedEpisode(self.task, columns, self._videos(), stats)

    def _videos(self) -> dict[str, Path]:
        keys = [name for name, feature in self._features.items() if feature.is_video and name not in self._missing]
        for key in keys:
            if key not in self._attached and (frames := self._frames(key)) != self.rows:
                raise DataError(f"{key}: {frames} frames for {self.rows} rows")
        return {key: self._video_path(key) for key in keys}

    def _frames(self, key: str) -> int:
        return self._writers[key].frames if key in self._writers else 0

    def _is_numeric(self, name: str) -> bool:
        return name == "timestamp" or self._features[name].is_numeric

    def _add_image(self, key: str, feature: Feature, image: NDArray[Any], row: int | None = None) -> None:
        row = self.rows if row is None else row
        if image.dtype != np.uint8 or image.shape != feature.shape:
            wanted = list(feature.shape)
            raise DataError(f"row {row}, {key}: expected uint8 {wanted}, got {image.dtype} {list(image.shape)}")
        if key not in self._writers:
            height, width = feature.shape[:2]
            self._writers[key] = VideoWriter(self._video_path(key), self._fps, height, width, self._encoding)
            self._pixels[key] = PixelStats()
        self._writers[key].add(image)
        if row % max(1, round(self._fps / PIXEL_STATS_PER_S)) == 0:
            self._pixels[key].add(image)

    def _checked(self, name: str, feature: Feature, array: NDArray[Any]) -> NDArray[Any]:
        expected = () if feature.shape == (1,) else feature.shape
        if feature.shape == (1,) and array.shape[1:] == (1,):
            array = array[:, 0]
        if feature.dtype == "string":
            return array.astype(object)
        if array.shape[1:] != expected:
            raise DataError(f"row {self.rows}, {name}: expected shape {list(expected)}, got {list(array.shape[1:])}")
        typed: NDArray[Any] = array.astype(feature.dtype)
        if typed.dtype.kind == "f" and not np.isfinite(typed).all():
            row, *entry = np.argwhere(~np.isfinite(typed))[0].tolist()
            label = feature.label(int(np.ravel_multi_index(entry, expected))) if entry else "0"
            raise DataError(f"row {self.rows + row}, {name}[{label}]: {typed[(row, *entry)]} is not a finite number")
        return typed

    def _check_names(self, given: Mapping[str, Any]) -> None:
        elsewhere = self._attached.keys() | self._missing
        expected = [name for name in self._features if name not in elsewhere]
        missing = [name for name in expected if name not in given]
        unknown = [name for name in given if name not in expected]
        if missing or unknown:
            raise DataError(f"row {self.rows}: missing {missing}, unexpected {unknown}; expected {expected}")

    def _require_camera(self, key: str) -> None:
        if key not in self._features or not self._features[key].is_video:
            raise DataError(f"{key} is not a video feature of this folder")

    def _video_path(self, key: str) -> Path:
        return self._staging / f"{key}.mp4"

    def _close_writers(self) -> None:
        for writer in self._writers.values():
            writer.close()

    def _end(self) -> None:
        self._is_open = False
        self._close_writers()
        self._close()
