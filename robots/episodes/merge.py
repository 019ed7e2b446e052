"""Merge episodes folders into a new one: rows are renumbered, video files copied as they are."""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from robots.config import write_json
from robots.episodes import layout, stats, tables
from robots.episodes.extras import encode, unify
from robots.episodes.features import DEFAULT_FEATURES, Feature, difference
from robots.episodes.folders import built_aside
from robots.episodes.layout import Slot
from robots.episodes.reader import EpisodeRow, EpisodesReader
from robots.episodes.stats import Stats
from robots.errors import DataError

OnStep = Callable[[int, int], None]


def merge_episodes(
    sources: Sequence[str | Path | EpisodesReader],
    dst: str | Path,
    *,
    choose: Sequence[Sequence[int]] | None = None,
    on_step: OnStep | None = None,
) -> dict[str, Any]:
    """Write the episodes of several folders, in order, into a new folder.

    Args:
        sources: v3.0 folders of any writer, or readers of them.
        dst: a folder that does not exist yet.
        choose: per source, the episode indexes to take; all when left out.
        on_step: called with (episodes done, episodes in all).

    Returns:
        `episodes`, `frames` and, per source, `path` and `episodes`.

    Raises:
        DataError: nothing to merge, a broken source, or sources that differ in rate, robot, cameras, size or units.
        ConfigError: dst is taken.
    """
    readers = [source if isinstance(source, EpisodesReader) else EpisodesReader(source) for source in sources]
    require_alike(readers)
    chosen = [list(indexes) for indexes in choose] if choose else [[row.index for row in r.episodes] for r in readers]
    total = sum(len(indexes) for indexes in chosen)
    if total == 0:
        raise DataError(
            f"nothing to merge: {', '.join(str(reader.root) for reader in readers) or 'no source'} holds no episode"
        )
    with built_aside(Path(dst)) as aside:
        merger = _Merger(aside, readers)
        for reader, indexes in zip(readers, chosen, strict=True):
            merger.take(reader, indexes, on_step, total)
        merger.finish()
    parts = [{"path": str(r.root), "episodes": len(indexes)} for r, indexes in zip(readers, chosen, strict=True)]
    return {"episodes": total, "frames": merger.frames, "sources": parts}


def require_alike(readers: Sequence[EpisodesReader]) -> None:
    """Raise DataError naming what differs when rows of these folders cannot share one."""
    for other in readers[1:]:
        first = readers[0]
        reason = difference(first.features, other.features)
        if first.fps != other.fps:
            reason = f"fps is {first.fps:g} in one and {other.fps:g} in the other"
        elif first.robot_type != other.robot_type:
            reason = f"robot_type is {first.robot_type} in one and {other.robot_type} in the other"
        if reason:
            raise DataError(f"{first.root} and {other.root} cannot be merged: {reason}")


class _Merger:
    """State of one merge: numbering of rows, tasks and files of the new folder."""

    def __init__(self, root: Path, readers: Sequence[EpisodesReader]) -> None:
        self.root, self.frames = root, 0
        self._info = readers[0].info | {"codebase_version": layout.VERSION, "chunks_size": layout.CHUNKS_SIZE}
        self._features: dict[str, Feature] = readers[0].features
        self._fields: dict[str, pa.Field] = unify(reader.extra_fields for reader in readers)
        self._tasks: dict[str, int] = {}
        self._files: dict[str, dict[Path, Slot]] = {}
        self._counts: dict[str, int] = {}
        self._rows: list[dict[str, Any]] = []
        self._stats: dict[str, Stats] = {}

    def take(self, reader: EpisodesReader, indexes: Sequence[int], on_step: OnStep | None, total: int) -> None:
        """Append episodes of one source."""
        known = reader.episode_stats()
        for index in indexes:
            self._append(reader, reader.row(index), known.get(index, {}))
            if on_step is not None:
                on_step(len(self._rows), total)

    def finish(self) -> None:
        """Write tables, statistics and totals."""
        schema = tables.episodes_schema(self._features, self._fields)
        tables.write_table(Slot(0, 0).episodes(self.root), tables.episodes_table(schema, self._rows))
        tables.write_tasks(self.root / layout.TASKS_PATH, list(self._tasks))
        write_json(self.root / layout.STATS_PATH, stats.to_json(self._stats), indent=None)
        has_video = any(feature.is_video for feature in self._features.values())
        features = self._info["features"] | {name: f.to_json() for name, f in DEFAULT_FEATURES.items()}
        paths = {
            "features": features,
            "data_path": layout.DATA_PATH,
            "video_path": layout.VIDEO_PATH if has_video else None,
        }
        layout.save_info(
            self.root, layout.with_totals(self._info | paths, len(self._rows), self.frames, len(self._tasks))
        )

    def _append(self, reader: EpisodesReader, row: EpisodeRow, known: dict[str, Stats]) -> None:
        columns = reader.read(
            row.index, [name for name, f in self._features.items() if f.is_known and not f.is_video]
        ).columns
        columns |= self._numbering(reader, row, columns["task_index"])
        slot = Slot.number(len(self._rows))
        tables.write_table(slot.data(self.root), self._table(reader, row, columns))
        found = {name: stats.column_stats(c) for name, c in columns.items() if self._features[name].is_numeric}
        found |= {key: known[key] for key in reader.cameras if key in known}
        facts = self._videos(row) | encode(self._fields, row.extra) | tables.flat_stats(found)
        self._rows.append(self._places(row, slot) | facts)
        self._stats = stats.aggregate([self._stats, found]) if self._stats else found
        self.frames += row.length

    def _numbering(self, reader: EpisodesReader, row: EpisodeRow, task_index: NDArray[Any]) -> dict[str, NDArray[Any]]:
        texts = {int(old): reader.tasks.get(int(old), row.task) for old in np.unique(task_index)}
        renumbered = {old: self._tasks.setdefault(text, len(self._tasks)) for old, text in texts.items()}
        return {
            "frame_index": np.arange(row.length),
            "episode_index": np.full(row.length, len(self._rows)),
            "index": np.arange(self.frames, self.frames + row.length),
            "task_index": np.array([renumbered[int(old)] for old in task_index]),
        }

    def _table(self, reader: EpisodesReader, row: EpisodeRow, columns: Mapping[str, NDArray[Any]]) -> pa.Table:
        table = tables.rows_table(self._features, columns)
        for name in (name for name, feature in self._features.items() if not feature.is_known):
            table = table.append_column(name, reader.stored_column(row.index, name))
        return table

    def _places(self, row: EpisodeRow, slot: Slot) -> dict[str, Any]:
        return {
            "episode_index": len(self._rows),
            "tasks": row.tasks,
            "length": row.length,
            "data/chunk_index": slot.chunk,
            "data/file_index": slot.file,
            "dataset_from_index": self.frames,
            "dataset_to_index": self.frames + row.length,
            "meta/episodes/chunk_index": 0,
            "meta/episodes/file_index": 0,
        }

    def _videos(self, row: EpisodeRow) -> dict[str, Any]:
        places: dict[str, Any] = {}
        for key in (name for name, feature in self._features.items() if feature.is_video):
            span = row.videos.get(key)
            is_there = row.has_video[key] and span is not None
            slot = self._video_slot(key, span.path if span is not None and is_there else None)
            places |= {
                f"videos/{key}/chunk_index": slot.chunk,
                f"videos/{key}/file_index": slot.file,
                f"videos/{key}/from_timestamp": span.from_s if span else 0.0,
                f"videos/{key}/to_timestamp": span.to_s if span else row.length / float(self._info["fps"]),
                f"videos/{key}/available": is_there,
            }
        return places

    def _video_slot(self, key: str, source: Path | None) -> Slot:
        """The new place of a source's video file, copied once; an episode without a video keeps a number free."""
        known = self._files.setdefault(key, {})
        if source is not None and source in known:
            return known[source]
        slot = Slot.number(self._counts.get(key, 0))
        self._counts[key] = self._counts.get(key, 0) + 1
        if source is not None:
            known[source] = slot
            link_or_copy(source, slot.video(self.root, key))
        return slot


def link_or_copy(source: Path, target: Path) -> None:
    """A file under a second name: a hard link where the file system can, else a copy (files here never change)."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with suppress(OSError):
        os.link(source, target)
        return
    shutil.copyfile(source, target)
