"""Write an episodes folder: one data file, one video per camera and one episodes file for every episode.

An episode is committed by renaming its episodes file into place; videos and data are there before, statistics and
totals follow. A process killed at any moment loses at most the open episode: `open` clears what it left.
"""

import fcntl
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa

from robots.config import write_json
from robots.episodes import layout, stats, tables
from robots.episodes.draft import EpisodeDraft, StagedEpisode
from robots.episodes.extras import encode, infer_fields
from robots.episodes.features import DEFAULT_FEATURES, Feature, difference, validated, with_info
from robots.episodes.layout import Slot
from robots.episodes.state import FolderState
from robots.episodes.video import DEFAULT_ENCODING, VideoEncoding, stream_info
from robots.errors import DataError


class EpisodesWriter:
    """Appends episodes to a folder; one writer a folder at a time (it locks the meta folder)."""

    def __init__(self, root: Path, state: FolderState, encoding: VideoEncoding) -> None:
        """Use `create`, `open` or `open_or_create`."""
        self.root = root
        self.features = layout.features_of(state.info)
        self._state, self._encoding = state, encoding
        self._lock: int | None = _lock(root)
        self._draft: EpisodeDraft | None = None

    @classmethod
    def create(
        cls,
        root: str | Path,
        *,
        fps: float,
        robot_type: str,
        features: Mapping[str, Feature],
        encoding: VideoEncoding = DEFAULT_ENCODING,
    ) -> "EpisodesWriter":
        """Start a new folder.

        Raises:
            DataError: the folder exists and is not empty, or a feature cannot be written.
        """
        root = Path(root)
        if root.exists() and any(root.iterdir()):
            raise DataError(f"{root} is not empty: open it to append, or choose another folder")
        if not fps > 0:
            raise DataError(f"fps must be > 0, got {fps}")
        info = layout.new_info(fps, validated(features), robot_type)
        layout.save_info(root, info)
        return cls(root, FolderState(info), encoding)

    @classmethod
    def open(cls, root: str | Path, *, encoding: VideoEncoding = DEFAULT_ENCODING) -> "EpisodesWriter":
        """Append to a folder, after clearing what a killed writer left and repairing totals and statistics.

        Raises:
            DataError: no v3.0 folder, a broken file (named), or another process writes it.
        """
        root = Path(root)
        writer = cls(root, FolderState(layout.load_info(root)), encoding)
        try:
            writer._state = FolderState.load(root)
            writer._require_own_tables()
            writer._recover()
        except BaseException:
            writer.close()
            raise
        return writer

    @classmethod
    def open_or_create(
        cls,
        root: str | Path,
        *,
        fps: float,
        robot_type: str,
        features: Mapping[str, Feature],
        encoding: VideoEncoding = DEFAULT_ENCODING,
    ) -> "EpisodesWriter":
        """Resume a folder if it is there, else start it.

        Raises:
            DataError: the folder is there with another rate, robot or features.
        """
        root = Path(root)
        if not (root / layout.INFO_PATH).exists():
            return cls.create(root, fps=fps, robot_type=robot_type, features=features, encoding=encoding)
        writer = cls.open(root, encoding=encoding)
        found = writer._state.info
        reason = difference(validated(features), writer.features)
        if found["fps"] != fps or found["robot_type"] != robot_type:
            reason = f"it holds {found['robot_type']} at {found['fps']} fps, wanted {robot_type} at {fps} fps"
        if reason:
            writer.close()
            raise DataError(f"{root} cannot be resumed: {reason}")
        return writer

    def __len__(self) -> int:
        return self._state.episodes

    def episode(self, *, task: str) -> EpisodeDraft:
        """Open the next episode.

        Raises:
            DataError: another one is open, or an empty task.
        """
        if self._lock is None:
            raise DataError(f"{self.root}: this writer is closed")
        if self._draft is not None:
            raise DataError("commit or abort the open episode first")
        if not task.strip():
            raise DataError("an episode needs a task text")
        self._staging.mkdir(parents=True, exist_ok=True)
        self._draft = EpisodeDraft(
            task=task,
            features=self.features,
            fps=self._state.info["fps"],
            encoding=self._encoding,
            staging=self._staging,
            publish=self._publish,
            close=self._clear,
        )
        return self._draft

    def close(self) -> None:
        """Drop an open episode and release the folder."""
        if self._draft is not None:
            self._draft.abort()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> "EpisodesWriter":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    @property
    def _staging(self) -> Path:
        return self.root / layout.STAGING

    def _publish(self, episode: StagedEpisode, extra: Mapping[str, Any]) -> int:
        state = self._state
        fields = infer_fields(extra) if state.extra_fields is None else state.extra_fields
        facts = encode(fields, extra)
        slot = Slot.number(state.next_slot, state.info["chunks_size"])
        task_index = self._task_index(episode.task)
        columns = episode.columns | _default_columns(episode.length, state.episodes, state.frames, task_index)
        found = episode.stats | {name: stats.column_stats(columns[name]) for name in DEFAULT_FEATURES}
        row = self._row(episode, slot) | facts | tables.flat_stats(found)
        self._note_codecs(episode)
        self._stage_tables(columns, row, fields)
        self._move_into_place(episode, slot)
        state.add(row, found, fields)
        self._save_totals()
        return state.episodes - 1

    def _task_index(self, task: str) -> int:
        tasks = self._state.tasks
        if task not in tasks:
            tasks.append(task)
            tables.write_tasks(self.root / layout.TASKS_PATH, tasks)
        return tasks.index(task)

    def _row(self, episode: StagedEpisode, slot: Slot) -> dict[str, Any]:
        row: dict[str, Any] = {
            "episode_index": self._state.episodes,
            "tasks": [episode.task],
            "length": episode.length,
            "data/chunk_index": slot.chunk,
            "data/file_index": slot.file,
            "dataset_from_index": self._state.frames,
            "dataset_to_index": self._state.frames + episode.length,
            "meta/episodes/chunk_index": slot.chunk,
            "meta/episodes/file_index": slot.file,
        }
        for key in (name for name, feature in self.features.items() if feature.is_video):
            row |= {
                f"videos/{key}/chunk_index": slot.chunk,
                f"videos/{key}/file_index": slot.file,
                f"videos/{key}/from_timestamp": 0.0,
                f"videos/{key}/to_timestamp": episode.length / self._state.info["fps"],
                f"videos/{key}/available": key in episode.videos,
            }
        return row

    def _note_codecs(self, episode: StagedEpisode) -> None:
        """The first video of a camera tells info.json what its stream is."""
        described = self._state.info["features"]
        for key, path in episode.videos.items():
            if not self.features[key].info:
                self.features[key] = with_info(self.features[key], stream_info(path))
                described[key] = self.features[key].to_json()

    def _stage_tables(self, columns: Mapping[str, Any], row: Mapping[str, Any], fields: Mapping[str, pa.Field]) -> None:
        schema = tables.episodes_schema(self.features, fields)
        tables.write_table(self._staging / "data.parquet", tables.rows_table(self.features, columns))
        tables.write_table(self._staging / "episode.parquet", tables.episodes_table(schema, [row]))

    def _move_into_place(self, episode: StagedEpisode, slot: Slot) -> None:
        info = self._state.info
        for key, path in episode.videos.items():
            _move(path, slot.video(self.root, key, info["video_path"]))
        _move(self._staging / "data.parquet", slot.data(self.root, info["data_path"]))
        _move(self._staging / "episode.parquet", slot.episodes(self.root))

    def _save_totals(self) -> None:
        write_json(self.root / layout.STATS_PATH, stats.to_json(self._state.stats), indent=None)
        layout.save_info(self.root, self._state.info)

    def _require_own_tables(self) -> None:
        """All files of one episodes table must share one schema, or loaders of the format cannot concatenate them."""
        wanted = tables.episodes_schema(self.features, self._state.extra_fields or {})
        for path in sorted((self.root / "meta" / "episodes").glob("*/*.parquet"))[-1:]:
            if not tables.read_schema(path).equals(wanted):
                raise DataError(
                    f"{self.root} was written by another program: merge it into a new folder to append to it"
                )

    def _recover(self) -> None:
        self._clear()
        slot = Slot.number(self._state.next_slot, self._state.info["chunks_size"])
        info = self._state.info
        slot.data(self.root, info["data_path"]).unlink(missing_ok=True)
        for key in (name for name, feature in self.features.items() if feature.is_video):
            slot.video(self.root, key, info["video_path"]).unlink(missing_ok=True)
        if self._state.is_repaired:
            self._save_totals()

    def _clear(self) -> None:
        self._draft = None
        shutil.rmtree(self._staging, ignore_errors=True)


def _default_columns(length: int, episode: int, first_row: int, task_index: int) -> dict[str, Any]:
    return {
        "frame_index": np.arange(length),
        "episode_index": np.full(length, episode),
        "index": np.arange(first_row, first_row + length),
        "task_index": np.full(length, task_index),
    }


def _move(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    source.replace(target)


def _lock(root: Path) -> int:
    handle = os.open(root / "meta", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        raise DataError(f"{root} is being written by another process") from error
    return handle
