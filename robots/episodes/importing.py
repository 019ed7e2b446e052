"""Import demonstrations of other labs: LeRobot v2.0/v2.1 (and v3.0, by copying) into a v3.0 folder.

An episode that cannot be trusted is rejected with a reason and the others import. An episode without its video keeps
its rows. Video files are copied byte for byte.
"""

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robots.episodes import layout
from robots.episodes.check import check_episodes, looks_like_degrees, not_finite
from robots.episodes.features import Feature, with_info
from robots.episodes.folders import built_aside
from robots.episodes.merge import OnStep, merge_episodes
from robots.episodes.reader import EpisodesReader
from robots.episodes.source_v21 import SourceEpisode, SourceV21
from robots.episodes.stats import PixelStats, Stats, constant_entries
from robots.episodes.timing import Jitter, step_back
from robots.episodes.video import iter_frames, stream_info
from robots.episodes.writer import EpisodesWriter
from robots.errors import ConfigError, DataError

_STATS_FRAMES_PER_S = 5.0
_BROWSER_CODECS = ("h264",)


@dataclass
class ImportReport:
    """What an import did.

    Attributes:
        format: version of the source.
        episodes: imported ones.
        frames: their rows.
        episodes_with_video: those with at least one video.
        missing_videos: video files that are listed but not there.
        missing_video_files: each of them, with episode (of the source), video and reason.
        rejected: episodes of the source left out, each with episode and reason.
        warnings: oddities, each with episode (or null) and message.
        jitter: deviation of time steps from 1/fps within episodes [s]: max_s, p99_s.
        constant_dimensions: entries that never move.
        needs_proxy: cameras whose codec some browsers do not play.
    """

    source: str
    format: str
    episodes: int = 0
    frames: int = 0
    episodes_with_video: int = 0
    missing_videos: int = 0
    missing_video_files: list[dict[str, Any]] = field(default_factory=list)
    rejected: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[dict[str, Any]] = field(default_factory=list)
    jitter: dict[str, float] = field(default_factory=dict)
    constant_dimensions: list[str] = field(default_factory=list)
    needs_proxy: list[str] = field(default_factory=list)
    fps: float = 0.0
    robot_type: str | None = None
    tasks: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """As a plain dict."""
        return dataclasses.asdict(self)

    def warn(self, episode: int | None, message: str) -> None:
        """Add a warning."""
        self.warnings.append({"episode": episode, "message": message})


def import_episodes(
    src: str | Path, dst: str | Path, *, units: str | None = None, on_step: OnStep | None = None
) -> ImportReport:
    """Import a LeRobot folder into a new v3.0 folder.

    Args:
        src: v2.0, v2.1 or v3.0 folder.
        dst: a folder that does not exist yet; it appears only when the import succeeded.
        units: unit of every entry of observation.state and action, when the person importing knows it (`rad`, `deg`).
        on_step: called with (episodes done, episodes in all).

    Raises:
        ConfigError: src is no folder, or dst is taken.
        DataError: the source's metadata is broken, or no episode could be imported.
    """
    src, dst = Path(src), Path(dst)
    if not src.is_dir():
        raise ConfigError(f"{src} is not a folder", "src")
    info = layout.load_json(src / layout.INFO_PATH)
    if isinstance(info, dict) and str(info.get("codebase_version", "")).startswith("v3."):
        report = _copy_v3(src, dst, on_step)
    else:
        source = SourceV21.open(src)
        with built_aside(dst) as aside:
            report = _Importer(source, units).run(aside, on_step)
    return _summarised(report, dst)


def _copy_v3(src: Path, dst: Path, on_step: OnStep | None) -> ImportReport:
    found = check_episodes(src)
    bad = {finding.episode for finding in found.errors if finding.episode is not None}
    whole = [finding.message for finding in found.errors if finding.episode is None]
    reader = EpisodesReader(src)
    kept = [row.index for row in reader.episodes if row.index not in bad]
    merge_episodes([reader], dst, choose=[kept], on_step=on_step)
    report = ImportReport(str(src), layout.VERSION, missing_videos=found.missing_videos, jitter=found.jitter)
    report.rejected = [{"episode": f.episode, "reason": f.message} for f in found.errors if f.episode is not None]
    report.warnings = [dataclasses.asdict(finding) for finding in found.warnings]
    for message in whole:
        report.warn(None, message)
    return report


def _summarised(report: ImportReport, dst: Path) -> ImportReport:
    """The report completed with what now lies in the new folder."""
    reader = EpisodesReader(dst)
    report.episodes, report.frames = len(reader), reader.frames
    report.episodes_with_video = sum(any(row.has_video.values()) for row in reader.episodes)
    report.constant_dimensions = constant_entries(reader.stats, reader.features)
    codecs = {key: reader.features[key].info.get("video.codec") for key in reader.cameras}
    report.needs_proxy = [key for key, codec in codecs.items() if codec and codec not in _BROWSER_CODECS]
    report.fps, report.robot_type = reader.fps, reader.robot_type
    report.tasks = [text for _, text in sorted(reader.tasks.items())]
    return report


class _Importer:
    """One import of a v2.x folder."""

    def __init__(self, source: SourceV21, units: str | None) -> None:
        self.source = source
        self.report = ImportReport(str(source.root), str(source.info["codebase_version"]))
        self.jitter = Jitter(source.fps)
        self.features = {name: self._described(name, f, units) for name, f in source.features.items()}

    def run(self, root: Path, on_step: OnStep | None) -> ImportReport:
        """Import every listed episode into `root`."""
        source, total = self.source, len(self.source.episodes)
        robot = str(source.info.get("robot_type") or "unknown")
        self._warn_of_unlisted()
        with EpisodesWriter.create(root, fps=source.fps, robot_type=robot, features=self.features) as writer:
            for done, episode in enumerate(source.episodes, 1):
                try:
                    self._take(writer, episode)
                except DataError as error:
                    self.report.rejected.append({"episode": episode.index, "reason": str(error)})
                if on_step is not None:
                    on_step(done, total)
            imported = len(writer)
        if imported == 0:
            reason = self.report.rejected[0]["reason"] if self.report.rejected else "it lists none"
            raise DataError(f"{source.root}: no episode could be imported: {reason}")
        self.report.jitter = self.jitter.report()
        self.report.missing_videos = len(self.report.missing_video_files)
        return self.report

    def _take(self, writer: EpisodesWriter, listed: SourceEpisode) -> None:
        columns, times, tasks = self.source.columns(listed.index)
        self._require_sound(listed, columns, times)
        tasks = tasks or listed.tasks or ["no task given"]
        videos = {key: self._video(listed, key, len(times)) for key, f in self.features.items() if f.is_video}
        with writer.episode(task=tasks[0]) as draft:
            for key, found in videos.items():
                if found is None:
                    draft.miss_video(key)
                else:
                    draft.attach_video(key, found[0], found[1])
            draft.add_rows(columns, self._started_at_zero(listed, times))
            draft.commit({"source_episode": listed.index})
        self._note_oddities(listed, columns, times, tasks)
        for key in (key for key, found in videos.items() if found is None):
            where = self.source.video_path(listed.index, key).relative_to(self.source.root)
            reason = f"{where} is listed but not there"
            self.report.missing_video_files.append({"episode": listed.index, "video": key, "reason": reason})

    def _require_sound(self, listed: SourceEpisode, columns: dict[str, NDArray[Any]], times: NDArray[Any]) -> None:
        name = self.source.data_path(listed.index).name
        if listed.length is not None and listed.length != len(times):
            raise DataError(f"{name} has {len(times)} rows, episodes.jsonl says {listed.length}")
        if len(times) == 0:
            raise DataError(f"{name} has no rows")
        problem = not_finite(columns | {"timestamp": times}, self.features | {"timestamp": Feature.scalar()})
        if problem is not None:
            raise DataError(f"{name}: {problem}")
        if (row := step_back(times)) is not None:
            raise DataError(
                f"{name}: row {row}: the timestamp does not move forward ({times[row - 1]} to {times[row]})"
            )

    def _video(self, listed: SourceEpisode, key: str, rows: int) -> tuple[Path, Stats | None] | None:
        path = self.source.video_path(listed.index, key)
        if not path.exists():
            return None
        frames, stats = _survey(path, self.source.fps)
        if frames < rows:
            raise DataError(f"{path.name} of {key}: {frames} frames decode for {rows} rows")
        if frames > rows:
            self.report.warn(
                listed.index, f"{path.name} of {key}: {frames} frames for {rows} rows, the last are unused"
            )
        return path, stats

    def _started_at_zero(self, listed: SourceEpisode, times: NDArray[Any]) -> NDArray[np.float64]:
        if abs(times[0]) <= 0.5 / self.source.fps:
            return times
        self.report.warn(listed.index, f"timestamps start at {times[0]:.3f} s: moved to 0")
        return np.asarray(times - times[0], dtype=np.float64)

    def _note_oddities(
        self, listed: SourceEpisode, columns: dict[str, NDArray[Any]], times: NDArray[Any], tasks: list[str]
    ) -> None:
        worst = self.jitter.add(times)
        if worst > 0.5 / self.source.fps:
            self.report.warn(listed.index, f"a time step is off by {worst:.4f} s, over half a frame")
        if len(tasks) > 1:
            self.report.warn(listed.index, f"{len(tasks)} tasks in one episode: the first is kept: {tasks[0]}")
        for message in looks_like_degrees(columns, self.features):
            self.report.warn(listed.index, message)

    def _described(self, name: str, feature: Feature, units: str | None) -> Feature:
        if feature.is_video:
            return with_info(feature, self._stream_info(name, feature))
        if units is not None and name in ("observation.state", "action"):
            return dataclasses.replace(feature, units=(units,) * int(np.prod(feature.shape)))
        return feature

    def _stream_info(self, key: str, feature: Feature) -> dict[str, Any]:
        """Facts of the first readable video, else what the source says; never empty, the stream is not ours."""
        for episode in self.source.episodes:
            path = self.source.video_path(episode.index, key)
            if path.exists():
                try:
                    return stream_info(path)
                except DataError:
                    continue
        return dict(feature.info) or {"video.height": feature.shape[0], "video.width": feature.shape[1]}

    def _warn_of_unlisted(self) -> None:
        told = self.source.info.get("total_episodes")
        if told is not None and told != len(self.source.episodes):
            self.report.warn(None, f"info.json says {told} episodes, episodes.jsonl lists {len(self.source.episodes)}")
        listed = {self.source.data_path(episode.index) for episode in self.source.episodes}
        for path in self.source.stored_episodes():
            if path not in listed:
                self.report.warn(None, f"{path.relative_to(self.source.root)} is listed nowhere and was left out")


def _survey(path: Path, fps: float) -> tuple[int, Stats | None]:
    """Frames that decode, and pixel statistics of a few a second."""
    pixels, frames, step = PixelStats(), 0, max(1, round(fps / _STATS_FRAMES_PER_S))
    for _, frame in iter_frames(path):
        if frames % step == 0:
            pixels.add(np.asarray(frame.to_ndarray(format="rgb24"), dtype=np.uint8))
        frames += 1
    return frames, pixels.result()
