"""What a writer knows of its folder: totals, tasks, statistics, extras, and the next free file number."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa

from robots.episodes import layout, stats, tables
from robots.episodes.extras import unify
from robots.episodes.layout import Slot
from robots.episodes.stats import Stats
from robots.errors import DataError


@dataclass
class FolderState:
    """Mutable state of one folder.

    Attributes:
        info: info.json.
        tasks: task texts in order of task_index.
        episodes: committed episodes.
        frames: their rows.
        next_slot: number of the next data, video and episodes file.
        stats: statistics over the committed episodes.
        extra_fields: columns of the extras; None before the first episode.
        is_repaired: whether totals or statistics on disk lagged behind the episodes table.
    """

    info: dict[str, Any]
    tasks: list[str] = field(default_factory=list)
    episodes: int = 0
    frames: int = 0
    next_slot: int = 0
    stats: dict[str, Stats] = field(default_factory=dict)
    extra_fields: dict[str, pa.Field] | None = None
    is_repaired: bool = False

    @classmethod
    def load(cls, root: Path) -> "FolderState":
        """The state of a folder on disk; the episodes table is the truth, totals and statistics follow it.

        Raises:
            DataError: a broken file, or episodes that are not numbered 0, 1, 2, ...
        """
        state = cls(layout.load_info(root))
        tasks_path = root / layout.TASKS_PATH
        if tasks_path.exists():
            state.tasks = [text for _, text in sorted(tables.read_tasks(tasks_path).items())]
        rows, state.extra_fields = read_all_rows(root, with_stats=True)
        for position, row in enumerate(rows):
            if row["episode_index"] != position:
                raise DataError(f"{root}: episode {position} is missing from meta/episodes: recover it to append")
            state._count(row)
        state._settle(root, rows)
        return state

    def add(self, row: Mapping[str, Any], found: Mapping[str, Stats], fields: dict[str, pa.Field]) -> None:
        """Count a committed episode."""
        self.extra_fields = fields
        self.stats = stats.aggregate([self.stats, found]) if self.stats else dict(found)
        self._count(row)
        self.info = layout.with_totals(self.info, self.episodes, self.frames, len(self.tasks))

    def _count(self, row: Mapping[str, Any]) -> None:
        self.episodes += 1
        self.frames += row["length"]
        size = self.info["chunks_size"]
        places = {name.removesuffix("chunk_index") for name in row if name.endswith("/chunk_index")}
        used = (Slot(row[f"{p}chunk_index"], row[f"{p}file_index"]).flat(size) for p in places if has_slot(row, p))
        self.next_slot = max(self.next_slot, 1 + max(used, default=-1))

    def _settle(self, root: Path, rows: list[dict[str, Any]]) -> None:
        written = (self.info["total_episodes"], self.info["total_frames"], self.info["total_tasks"])
        stats_path = root / layout.STATS_PATH
        if written == (self.episodes, self.frames, len(self.tasks)) and (stats_path.exists() or not rows):
            self.stats = stats.from_json(layout.load_json(stats_path)) if rows else {}
            return
        self.is_repaired = True
        self.stats = stats.aggregate([tables.row_stats(row) for row in rows]) if rows else {}
        self.info = layout.with_totals(self.info, self.episodes, self.frames, len(self.tasks))


def has_slot(row: Mapping[str, Any], place: str) -> bool:
    """Whether a row says where a file of its episode lies; `place` is e.g. `data/`."""
    return row.get(f"{place}chunk_index") is not None and row.get(f"{place}file_index") is not None


def read_all_rows(
    root: Path, *, with_stats: bool, broken: list[DataError] | None = None
) -> tuple[list[dict[str, Any]], dict[str, pa.Field] | None]:
    """Every row of meta/episodes in order of episode, with the columns of the extras (None when there is no file).

    Args:
        root: the folder.
        with_stats: also read the statistics of every episode.
        broken: when given, errors of broken files are added to it and the readable rows returned.

    Raises:
        DataError: a broken file, named, or an episode listed twice.
    """
    rows: list[dict[str, Any]] = []
    found: list[dict[str, pa.Field]] = []
    for path in sorted((root / "meta" / "episodes").glob("*/*.parquet")):
        try:
            part, fields = tables.read_episode_rows(path, with_stats=with_stats)
        except DataError as error:
            if broken is None:
                raise
            broken.append(error)
            continue
        rows += part
        found.append(fields)
    rows.sort(key=lambda row: int(row["episode_index"]))
    for first, second in pairwise(rows):
        if first["episode_index"] == second["episode_index"]:
            raise DataError(f"{root}: episode {first['episode_index']} is listed twice in meta/episodes")
    return rows, unify(found) if found else None
