"""Verify an episodes folder: every broken file, row and video is named."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from robots.episodes import layout
from robots.episodes.features import DEFAULT_FEATURES, Feature
from robots.episodes.merge import OnStep
from robots.episodes.reader import Episode, EpisodeRow, EpisodesReader
from robots.episodes.stats import aggregate as aggregate_stats
from robots.episodes.stats import column_stats, constant_entries
from robots.episodes.timing import Jitter, step_back
from robots.episodes.video import Window, count_frames, shown_times
from robots.errors import DataError


@dataclass(frozen=True)
class Finding:
    """Something wrong (error) or odd (warning); `episode` is None when it concerns the whole folder."""

    message: str
    episode: int | None = None


@dataclass
class CheckReport:
    """What a check found. `ok` is true when there is no error."""

    path: str
    episodes: int = 0
    frames: int = 0
    episodes_with_video: int = 0
    missing_videos: int = 0
    errors: list[Finding] = field(default_factory=list)
    warnings: list[Finding] = field(default_factory=list)
    jitter: dict[str, float] = field(default_factory=dict)
    constant_dimensions: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """No error."""
        return not self.errors

    def to_json(self) -> dict[str, Any]:
        """As a plain dict, `ok` first."""
        return {"ok": self.ok, **asdict(self)}


def check_episodes(root: str | Path, *, decode: bool = True, on_step: OnStep | None = None) -> CheckReport:
    """Check a folder against the format and against itself.

    Args:
        root: the folder.
        decode: decode every video frame; False only counts what the files list (much faster).
        on_step: called with (episodes done, episodes in all).

    Raises:
        DataError: there is no v3.0 folder at all; everything else is in the report.
    """
    root = Path(root)
    report = CheckReport(str(root))
    broken: list[DataError] = []
    reader = EpisodesReader(root, broken=broken)
    report.errors += [Finding(str(error)) for error in broken]
    report.episodes, report.frames = len(reader), reader.frames
    _check_totals(reader, report)
    _check_order(reader, report)
    _check_strays(reader, report)
    jitter, parts = Jitter(reader.fps), []
    for done, row in enumerate(reader.episodes, 1):
        parts += _check_rows(reader, row, jitter, report)
        _check_videos(reader, row, decode, report)
        if on_step is not None:
            on_step(done, len(reader))
    report.jitter = jitter.report()
    report.constant_dimensions = constant_entries(aggregate_stats(parts), reader.features) if parts else []
    return report


def _check_totals(reader: EpisodesReader, report: CheckReport) -> None:
    told = (reader.info.get("total_episodes"), reader.info.get("total_frames"))
    found = (len(reader), reader.frames)
    if told != found:
        report.errors.append(
            Finding(
                f"info.json says {told[0]} episodes, {told[1]} frames; the episodes table has {found[0]}, {found[1]}"
            )
        )
    for name in (layout.STATS_PATH, layout.TASKS_PATH):
        if len(reader) and not (reader.root / name).exists():
            report.errors.append(Finding(f"{reader.root / name} is missing"))
    for name, feature in DEFAULT_FEATURES.items():
        declared = reader.info["features"].get(name, {})
        if declared.get("dtype") != feature.dtype or list(declared.get("shape") or []) != [1]:
            report.errors.append(
                Finding(f"info.json: feature {name} must be there with dtype {feature.dtype}, shape [1]")
            )


def _check_order(reader: EpisodesReader, report: CheckReport) -> None:
    first_row = 0
    for position, row in enumerate(reader.episodes):
        if row.index != position:
            report.errors.append(Finding(f"episode {position} is missing from the episodes table", position))
            return
        if row.first_row != first_row:
            report.errors.append(
                Finding(f"dataset_from_index is {row.first_row}, the episodes before have {first_row} rows", row.index)
            )
            return
        first_row += row.length


def _check_strays(reader: EpisodesReader, report: CheckReport) -> None:
    known = {row.data_path for row in reader.episodes}
    known |= {span.path for row in reader.episodes for span in row.videos.values()}
    found = [*(reader.root / "data").glob("*/*.parquet"), *(reader.root / "videos").glob("*/*/*.mp4")]
    for path in sorted(set(found) - known):
        report.warnings.append(Finding(f"{path} belongs to no episode of the table"))
    if (reader.root / layout.STAGING).exists():
        report.warnings.append(Finding("an episode is open, or its writer was killed; opening to append clears it"))


def _check_rows(reader: EpisodesReader, row: EpisodeRow, jitter: Jitter, report: CheckReport) -> list[Any]:
    try:
        episode = reader.read(row.index)
    except DataError as error:
        report.errors.append(Finding(str(error), row.index))
        return []
    problems = [_numbering_problem(reader, row, episode), not_finite(episode.columns, reader.features)]
    if (back := step_back(episode.timestamps)) is not None:
        problems.append(f"row {back}: the timestamp does not move forward")
    report.errors += [Finding(f"{row.data_path}: {problem}", row.index) for problem in problems if problem]
    worst = jitter.add(episode.timestamps)
    if worst > 0.5 / reader.fps:
        report.warnings.append(Finding(f"a time step is off by {worst:.4f} s, over half a frame", row.index))
    report.warnings += [Finding(text, row.index) for text in looks_like_degrees(episode.columns, reader.features)]
    if any(problems):
        return []
    judged = [n for n in ("observation.state", "action") if n in episode.columns and reader.features[n].is_numeric]
    return [{name: column_stats(episode.columns[name]) for name in judged}]


def _numbering_problem(reader: EpisodesReader, row: EpisodeRow, episode: Episode) -> str | None:
    steps = np.arange(row.length)
    if not np.array_equal(episode.columns["frame_index"], steps):
        return f"frame_index is not 0..{row.length - 1}"
    if not np.array_equal(episode.columns["index"], row.first_row + steps):
        return f"index is not {row.first_row}..{row.first_row + row.length - 1}"
    unknown = sorted(set(episode.columns["task_index"].tolist()) - reader.tasks.keys())
    return f"task_index {unknown} is not in tasks.parquet" if unknown else None


def not_finite(columns: dict[str, Any], features: dict[str, Feature]) -> str | None:
    """The first NaN or Inf, as row and column in words; None when every number is finite."""
    for name, values in columns.items():
        if values.dtype.kind != "f" or np.isfinite(values).all():
            continue
        row, *entry = np.argwhere(~np.isfinite(values))[0].tolist()
        label = features[name].label(int(np.ravel_multi_index(entry, values.shape[1:]))) if entry else "0"
        return f"row {row}, column {name}[{label}] is {values[(row, *entry)]}"
    return None


def looks_like_degrees(columns: dict[str, Any], features: dict[str, Feature]) -> list[str]:
    """Entries declared in radians whose values are beyond two turns."""
    found = []
    for name, values in columns.items():
        units = features[name].units
        if units is None or values.ndim != 2:
            continue
        beyond = np.abs(values).max(axis=0) > 4 * np.pi
        suspects = [features[name].label(i) for i, unit in enumerate(units) if unit == "rad" and beyond[i]]
        if suspects:
            found.append(f"{name}[{', '.join(suspects)}] is declared in rad but passes two turns: degrees?")
    return found


def _check_videos(reader: EpisodesReader, row: EpisodeRow, decode: bool, report: CheckReport) -> None:
    expected = [name for name, feature in reader.features.items() if feature.is_video]
    present = [key for key in expected if row.has_video[key]]
    report.missing_videos += len(expected) - len(present)
    report.episodes_with_video += bool(present)
    for key in present:
        try:
            frames = _frames(reader, row, key, decode)
        except DataError as error:
            report.errors.append(Finding(str(error), row.index))
            continue
        if frames < row.length:
            report.errors.append(Finding(f"{key}: {frames} frames decode for {row.length} rows", row.index))
        elif frames > row.length:
            report.warnings.append(Finding(f"{key}: {frames} frames for {row.length} rows", row.index))
    for key in sorted(set(expected) - set(present) - row.declared_missing):
        report.errors.append(Finding(f"{key}: {_expected_file(row, key)} is missing", row.index))


def _frames(reader: EpisodesReader, row: EpisodeRow, key: str, decode: bool) -> int:
    path, from_s, to_s = reader.video_file(row.index, key)
    window = Window(from_s, to_s, 0.5 / reader.fps)
    return count_frames(path, window) if decode else len(shown_times(path, window))


def _expected_file(row: EpisodeRow, key: str) -> str:
    return str(row.videos[key].path) if key in row.videos else "its file"
