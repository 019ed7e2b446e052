"""Read an episodes folder: any LeRobotDataset v3.0, with one or many episodes a file."""

import io
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from robots.episodes import layout, tables
from robots.episodes.extras import is_extra
from robots.episodes.features import DEFAULT_FEATURES, Feature
from robots.episodes.layout import Slot
from robots.episodes.state import has_slot, read_all_rows
from robots.episodes.stats import Stats
from robots.episodes.stats import from_json as stats_from_json
from robots.episodes.video import Image, Window, read_frames
from robots.errors import DataError

_CACHED_TABLES = 2


class VideoSpan(NamedTuple):
    """An episode's part of a video file [s]."""

    path: Path
    from_s: float
    to_s: float


@dataclass(frozen=True)
class EpisodeRow:
    """One row of the episodes table.

    Attributes:
        index: episode_index; look episodes up by it, never by position.
        length: rows.
        task: instruction text (the first one, if the episode has several).
        tasks: all of them.
        extra: further facts of the episode.
        has_video: camera -> whether its video is there.
        declared_missing: cameras that the table itself says this episode has no video of.
        first_row: global index of its first row.
    """

    index: int
    length: int
    task: str
    tasks: list[str]
    extra: dict[str, Any]
    has_video: dict[str, bool]
    declared_missing: frozenset[str]
    first_row: int
    data_path: Path
    videos: dict[str, VideoSpan]


@dataclass(frozen=True)
class Episode:
    """The rows of one episode.

    Attributes:
        columns: arrays (T, ...) per non-video feature, default columns included.
        task: instruction text.
        extra: further facts.
        timestamps: (T,) seconds since the start of the episode.
    """

    columns: dict[str, NDArray[Any]]
    task: str
    extra: dict[str, Any]
    timestamps: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.timestamps)


class EpisodesReader:
    """Read access to a folder.

    Args:
        root: the folder.
        broken: when given, errors of broken episodes files are added to it and the other episodes are there.

    The episodes table is the truth: what is not in it (an interrupted commit) does not exist, and totals are counted.

    Raises:
        DataError: no v3.0 folder, or a broken file, named.
    """

    def __init__(self, root: str | Path, *, broken: list[DataError] | None = None) -> None:
        self.root = Path(root)
        self._skips_broken = broken is not None
        self.info = layout.load_info(self.root)
        self.features: dict[str, Feature] = layout.features_of(self.info)
        self._rows, fields = read_all_rows(self.root, with_stats=False, broken=broken)
        self.extra_fields: dict[str, pa.Field] = fields or {}
        self.episodes = [self._episode_row(row) for row in self._rows]
        self._by_index = {row.index: row for row in self.episodes}
        self._tables: OrderedDict[Path, pa.Table] = OrderedDict()

    def __len__(self) -> int:
        return len(self.episodes)

    @property
    def fps(self) -> float:
        """Rows a second."""
        return float(self.info["fps"])

    @property
    def robot_type(self) -> str | None:
        """The embodiment."""
        return self.info.get("robot_type")

    @property
    def frames(self) -> int:
        """Rows of all episodes."""
        return sum(row.length for row in self.episodes)

    @property
    def cameras(self) -> list[str]:
        """Names of the features that are pixels."""
        return [name for name, feature in self.features.items() if feature.is_camera]

    @cached_property
    def tasks(self) -> dict[int, str]:
        """task_index -> text."""
        path = self.root / layout.TASKS_PATH
        return tables.read_tasks(path) if path.exists() else {}

    @cached_property
    def stats(self) -> dict[str, Stats]:
        """Statistics over the folder, from stats.json."""
        return stats_from_json(layout.load_json(self.root / layout.STATS_PATH))

    def row(self, index: int) -> EpisodeRow:
        """The episode with this episode_index.

        Raises:
            DataError: no such episode.
        """
        if index not in self._by_index:
            raise DataError(f"{self.root} has no episode {index}; it has {len(self)} episodes")
        return self._by_index[index]

    def read(self, index: int, columns: Sequence[str] | None = None) -> Episode:
        """The rows of one episode.

        Args:
            index: episode_index.
            columns: features to read; all non-camera ones when left out.

        Raises:
            DataError: broken file, or another number of rows than the episodes table says.
        """
        row = self.row(index)
        names = [n for n, f in self.features.items() if not f.is_camera] if columns is None else list(columns)
        table = self._episode_table(row)
        missing = [name for name in names if name not in table.column_names]
        if missing:
            raise DataError(f"{row.data_path}: columns {missing} are missing")
        arrays = {name: tables.to_numpy(table[name], self.features[name]) for name in names}
        times = tables.to_numpy(self.stored_column(index, "timestamp"), DEFAULT_FEATURES["timestamp"]).astype(
            np.float64
        )
        return Episode(arrays, row.task, row.extra, times)

    def stored_column(self, index: int, name: str) -> pa.ChunkedArray:
        """One column of an episode as stored; raises DataError when the file has none of that name."""
        table = self._episode_table(self.row(index))
        if name not in table.column_names:
            raise DataError(f"{self.row(index).data_path}: column {name} is missing")
        return table[name]

    def video_frames(self, index: int, key: str, start: int = 0, stop: int | None = None, stride: int = 1) -> Image:
        """Frames of rows start, start + stride, ... < stop, clamped to the episode.

        Each row gets the frame nearest to its timestamp; a frame of another episode in the same file is never used.

        Returns:
            uint8 (n, H, W, 3).

        Raises:
            DataError: no such camera, the episode has no video of it, or the file is broken.
        """
        row = self.row(index)
        rows = range(row.length)[start:stop:stride]
        if self._camera(key).dtype == "image":
            return self._images(row, key, rows)
        path, from_s, to_s = self.video_file(index, key)
        times = tables.to_numpy(self.stored_column(index, "timestamp"), DEFAULT_FEATURES["timestamp"]).astype(
            np.float64
        )
        return read_frames(path, from_s + times[list(rows)], Window(from_s, to_s, 0.5 / self.fps))

    def video_file(self, index: int, key: str) -> VideoSpan:
        """The file with an episode's video and its part of it.

        Raises:
            DataError: no such camera, or the episode has no video of it.
        """
        row = self.row(index)
        self._camera(key)
        if not row.has_video.get(key):
            where = f": {row.videos[key].path} is missing" if key in row.videos else ""
            raise DataError(f"episode {index} has no video of {key}{where}")
        return row.videos[key]

    def episode_stats(self) -> dict[int, dict[str, Stats]]:
        """episode_index -> statistics of that episode."""
        rows, _ = read_all_rows(self.root, with_stats=True, broken=[] if self._skips_broken else None)
        return {row["episode_index"]: tables.row_stats(row) for row in rows}

    def _camera(self, key: str) -> Feature:
        if key not in self.cameras:
            raise DataError(f"{self.root} has no camera {key}; it has {', '.join(self.cameras) or 'none'}")
        return self.features[key]

    def _episode_row(self, row: Mapping[str, Any]) -> EpisodeRow:
        videos = {key: self._span(row, key) for key, f in self.features.items() if f.is_video and self._knows(row, key)}
        has_video = {key: False for key in self.cameras if self.features[key].is_video}
        for key, span in videos.items():
            has_video[key] = row.get(f"videos/{key}/available") is not False and span.path.exists()
        has_video |= {key: True for key, feature in self.features.items() if feature.dtype == "image"}
        slot = Slot(int(row["data/chunk_index"]), int(row["data/file_index"]))
        return EpisodeRow(
            index=int(row["episode_index"]),
            length=int(row["length"]),
            task=(row.get("tasks") or [""])[0],
            tasks=row.get("tasks") or [""],
            extra={name: value for name, value in row.items() if is_extra(name)},
            has_video=has_video,
            declared_missing=frozenset(k for k in has_video if row.get(f"videos/{k}/available") is False),
            first_row=int(row.get("dataset_from_index") or 0),
            data_path=slot.data(self.root, self.info["data_path"]),
            videos=videos,
        )

    def _knows(self, row: Mapping[str, Any], key: str) -> bool:
        return has_slot(row, f"videos/{key}/") and bool(self.info.get("video_path"))

    def _span(self, row: Mapping[str, Any], key: str) -> VideoSpan:
        slot = Slot(row[f"videos/{key}/chunk_index"], row[f"videos/{key}/file_index"])
        from_s, to_s = row[f"videos/{key}/from_timestamp"], row[f"videos/{key}/to_timestamp"]
        return VideoSpan(slot.video(self.root, key, self.info["video_path"]), float(from_s), float(to_s))

    def _episode_table(self, row: EpisodeRow) -> pa.Table:
        table = self._file(row.data_path)
        if "episode_index" not in table.column_names:
            raise DataError(f"{row.data_path}: column episode_index is missing")
        mine = pc.equal(table["episode_index"], row.index)
        if table.num_rows != row.length or not pc.all(mine).as_py():
            table = table.filter(mine)
        if table.num_rows != row.length:
            raise DataError(
                f"{row.data_path}: episode {row.index} has {table.num_rows} rows, the table says {row.length}"
            )
        return table

    def _file(self, path: Path) -> pa.Table:
        if path not in self._tables:
            self._tables[path] = tables.read_table(path)
            while len(self._tables) > _CACHED_TABLES:
                self._tables.popitem(last=False)
        self._tables.move_to_end(path)
        return self._tables[path]

    def _images(self, row: EpisodeRow, key: str, rows: range) -> Image:
        from PIL import Image as PillowImage

        column = self.stored_column(row.index, key)
        found = [np.asarray(PillowImage.open(io.BytesIO(column[i].as_py()["bytes"])).convert("RGB")) for i in rows]
        return np.stack(found) if found else np.empty((0, *self.features[key].shape), np.uint8)
