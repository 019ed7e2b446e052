"""A LeRobotDataset v2.0 or v2.1 folder as a source: its tables, read without changing anything."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from robots.episodes import layout, tables
from robots.episodes.features import DEFAULT_FEATURES, VIDEO_NAMES, Feature
from robots.errors import DataError

VERSIONS = ("v2.0", "v2.1")


@dataclass(frozen=True)
class SourceEpisode:
    """What episodes.jsonl says of one episode."""

    index: int
    length: int | None
    tasks: list[str]


@dataclass(frozen=True)
class SourceV21:
    """A v2.x folder.

    Attributes:
        root: the folder.
        info: its info.json.
        features: declared features without the default columns; cameras as (H, W, 3).
        tasks: task_index -> text.
        episodes: the listed episodes, in order of index.
    """

    root: Path
    info: dict[str, Any]
    features: dict[str, Feature]
    tasks: dict[int, str]
    episodes: list[SourceEpisode]

    @classmethod
    def open(cls, root: Path) -> "SourceV21":
        """Read the metadata.

        Raises:
            DataError: no v2.x folder, or a broken or missing metadata file, named.
        """
        info = layout.load_json(root / "meta/info.json")
        if not isinstance(info, dict) or info.get("codebase_version") not in VERSIONS:
            found = info.get("codebase_version", "no version") if isinstance(info, dict) else "no object"
            raise DataError(f"{root}/meta/info.json: expected codebase_version {' or '.join(VERSIONS)}, found {found}")
        _check_info(root, info)
        features = {n: Feature.from_json(n, f) for n, f in info["features"].items() if n not in DEFAULT_FEATURES}
        tasks = {_whole(root, row, "task_index"): str(row.get("task", "")) for row in _lines(root / "meta/tasks.jsonl")}
        episodes = [_episode(root, row) for row in _lines(root / "meta/episodes.jsonl")]
        if len({episode.index for episode in episodes}) != len(episodes):
            raise DataError(f"{root}/meta/episodes.jsonl lists an episode twice")
        shaped = {name: _height_first(name, feature) for name, feature in features.items()}
        return cls(root, info, shaped, tasks, sorted(episodes, key=lambda episode: episode.index))

    @property
    def fps(self) -> float:
        """Rows a second."""
        return float(self.info["fps"])

    def data_path(self, index: int) -> Path:
        """The data file of an episode."""
        return self._place(str(self.info["data_path"]), index)

    def video_path(self, index: int, key: str) -> Path:
        """Where the video of an episode should be."""
        return self._place(str(self.info.get("video_path") or ""), index, video_key=key)

    def stored_episodes(self) -> list[Path]:
        """Data files in the folder, listed or not."""
        return sorted((self.root / "data").glob("*/*.parquet"))

    def columns(self, index: int) -> tuple[dict[str, NDArray[Any]], NDArray[np.float64], list[str]]:
        """One episode's features, timestamps [s] and task texts.

        Raises:
            DataError: missing or broken file, missing column, wrong shape.
        """
        path = self.data_path(index)
        table = tables.read_table(path)
        wanted = [name for name, feature in self.features.items() if not feature.is_camera]
        lacking = [name for name in wanted if name not in table.column_names]
        if lacking:
            raise DataError(f"{path.name}: columns {lacking} are missing")
        columns = {name: self._column(path, table, name, self.features[name]) for name in wanted}
        times = np.arange(table.num_rows) / self.fps
        if "timestamp" in table.column_names:
            times = self._column(path, table, "timestamp", Feature.scalar("float64"))
        return columns, times, self._tasks(table)

    def _tasks(self, table: pa.Table) -> list[str]:
        if "task_index" not in table.column_names:
            return []
        found = dict.fromkeys(table["task_index"].to_pylist())
        return [self.tasks[index] for index in found if index in self.tasks]

    @staticmethod
    def _column(path: Path, table: pa.Table, name: str, feature: Feature) -> NDArray[Any]:
        if table[name].null_count:
            row = int(np.flatnonzero(table[name].is_null().to_numpy())[0])
            raise DataError(f"{path.name}: row {row}, column {name} is null")
        try:
            return tables.to_numpy(table[name], feature)
        except (DataError, ValueError, TypeError, pa.ArrowException) as error:
            raise DataError(f"{path.name}: column {name}: {error}") from error

    def _place(self, template: str, index: int, **values: str) -> Path:
        chunk = index // self.info.get("chunks_size", layout.CHUNKS_SIZE)
        return layout.place(self.root, template, episode_chunk=chunk, episode_index=index, **values)


def _check_info(root: Path, info: Mapping[str, Any]) -> None:
    for name in ("fps", "features", "data_path"):
        if not info.get(name):
            raise DataError(f"{root}/meta/info.json: field {name} is missing")
    layout.require_numbers(root, info)


def _lines(path: Path) -> list[dict[str, Any]]:
    try:
        text = path.read_text()
    except FileNotFoundError as error:
        raise DataError(f"{path} is missing") from error
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is broken: {error}") from error
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            rows.append(_line(path, number, line))
    return rows


def _line(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise DataError(f"{path}, line {number} is not JSON: {error}") from error
    if not isinstance(row, dict):
        raise DataError(f"{path}, line {number} must be an object")
    return row


def _episode(root: Path, row: Mapping[str, Any]) -> SourceEpisode:
    tasks = row.get("tasks")
    tasks = tasks if isinstance(tasks, list) else []
    length = row.get("length")
    return SourceEpisode(
        _whole(root, row, "episode_index"), length if isinstance(length, int) else None, [str(task) for task in tasks]
    )


def _whole(root: Path, row: Mapping[str, Any], name: str) -> int:
    value = row.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise DataError(f"{root}/meta: {name} must be a whole number >= 0, got {value!r} in {dict(row)}")
    return value


def _height_first(name: str, feature: Feature) -> Feature:
    if feature.dtype == "image":
        raise DataError(f"feature {name} stores images in the table: only videos are imported, encode them first")
    if not feature.is_video:
        return feature
    if len(feature.shape) != 3:
        raise DataError(f"feature {name}: a video has shape [height, width, channels], got {list(feature.shape)}")
    channels_first = bool(feature.names) and str(feature.names[0]).startswith("channel") if feature.names else False
    height, width = feature.shape[1:] if channels_first else feature.shape[:2]
    return Feature("video", (height, width, 3), VIDEO_NAMES, info=feature.info)
