"""Where the files of a LeRobotDataset v3.0 folder lie, and its info.json."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from robots.config import write_json
from robots.episodes.features import DEFAULT_FEATURES, Feature
from robots.errors import DataError

VERSION = "v3.0"
CHUNKS_SIZE = 1000
DATA_PATH = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
VIDEO_PATH = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"
EPISODES_PATH = "meta/episodes/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
INFO_PATH, STATS_PATH, TASKS_PATH = "meta/info.json", "meta/stats.json", "meta/tasks.parquet"
STAGING = ".open-episode"

_REQUIRED = ("codebase_version", "fps", "features", "data_path")


class Slot(NamedTuple):
    """Place of a file: chunk folder and number inside it."""

    chunk: int
    file: int

    @classmethod
    def number(cls, n: int, chunks_size: int = CHUNKS_SIZE) -> "Slot":
        """The n-th file: chunks hold `chunks_size` files each."""
        return cls(n // chunks_size, n % chunks_size)

    def flat(self, chunks_size: int = CHUNKS_SIZE) -> int:
        """The inverse of `number`."""
        return self.chunk * chunks_size + self.file

    def data(self, root: Path, template: str = DATA_PATH) -> Path:
        """The data file of this slot."""
        return place(root, template, chunk_index=self.chunk, file_index=self.file)

    def video(self, root: Path, key: str, template: str = VIDEO_PATH) -> Path:
        """The video file of one camera in this slot."""
        return place(root, template, video_key=key, chunk_index=self.chunk, file_index=self.file)

    def episodes(self, root: Path) -> Path:
        """The episodes table of this slot."""
        return root / EPISODES_PATH.format(chunk_index=self.chunk, file_index=self.file)


def place(root: Path, template: str, **values: Any) -> Path:
    """A file of a folder from a path template of its info.json.

    Raises:
        DataError: a template with unknown fields, or one that leads out of the folder.
    """
    try:
        path = Path(template.format(**values))
    except (KeyError, IndexError, ValueError, AttributeError) as error:
        raise DataError(f"path template {template!r} cannot be filled with {', '.join(values)}") from error
    if path.is_absolute() or ".." in path.parts:
        raise DataError(f"path template {template!r} leads out of the folder")
    return root / path


def new_info(fps: float, features: Mapping[str, Feature], robot_type: str | None) -> dict[str, Any]:
    """info.json of a folder with no episode yet; `features` includes the default columns."""
    return {
        "codebase_version": VERSION,
        "robot_type": robot_type,
        "total_episodes": 0,
        "total_frames": 0,
        "total_tasks": 0,
        "chunks_size": CHUNKS_SIZE,
        "data_files_size_in_mb": 100,
        "video_files_size_in_mb": 200,
        "fps": int(fps) if float(fps).is_integer() else fps,
        "splits": {},
        "data_path": DATA_PATH,
        "video_path": VIDEO_PATH if any(feature.is_video for feature in features.values()) else None,
        "features": {name: feature.to_json() for name, feature in features.items()},
    }


def with_totals(info: Mapping[str, Any], episodes: int, frames: int, tasks: int) -> dict[str, Any]:
    """The same info.json with other totals."""
    splits = {"train": f"0:{episodes}"} if episodes else {}
    return {**info, "total_episodes": episodes, "total_frames": frames, "total_tasks": tasks, "splits": splits}


def load_json(path: Path) -> Any:
    """A JSON file of a folder; raises DataError naming the file."""
    try:
        return json.loads(path.read_text())
    except FileNotFoundError as error:
        raise DataError(f"{path} is missing: is {path.parent.parent} an episodes folder?") from error
    except (OSError, ValueError) as error:
        raise DataError(f"{path} is broken: {error}") from error


def load_info(root: Path) -> dict[str, Any]:
    """info.json of a v3.0 folder.

    Raises:
        DataError: no such folder, a broken file, a missing field, or another version.
    """
    info = load_json(root / INFO_PATH)
    if not isinstance(info, dict):
        raise DataError(f"{root / INFO_PATH} must hold an object")
    version = str(info.get("codebase_version", "missing"))
    if not version.startswith("v3."):
        raise DataError(f"{root / INFO_PATH}: codebase_version is {version}, expected {VERSION}; import it first")
    for name in _REQUIRED:
        if name not in info:
            raise DataError(f"{root / INFO_PATH}: field {name} is missing")
    require_numbers(root, info)
    return {"chunks_size": CHUNKS_SIZE} | info


def require_numbers(root: Path, info: Mapping[str, Any]) -> None:
    """Raise DataError unless fps is a number > 0, chunks_size (if there) a whole number > 0, features an object."""
    fps, size = info["fps"], info.get("chunks_size", CHUNKS_SIZE)
    if not isinstance(fps, int | float) or not 0 < fps < math.inf:
        raise DataError(f"{root / INFO_PATH}: fps must be a number > 0, got {fps!r}")
    if not isinstance(size, int) or size < 1:
        raise DataError(f"{root / INFO_PATH}: chunks_size must be a whole number > 0, got {size!r}")
    if not isinstance(info["features"], dict):
        raise DataError(f"{root / INFO_PATH}: features must be an object, got {info['features']!r}")


def features_of(info: Mapping[str, Any]) -> dict[str, Feature]:
    """Every feature of an info.json; the default columns are what the format says, whatever is written there."""
    parsed = {name: Feature.from_json(name, values) for name, values in info["features"].items()}
    return parsed | DEFAULT_FEATURES


def save_info(root: Path, info: Mapping[str, Any]) -> None:
    """Replace info.json atomically."""
    write_json(root / INFO_PATH, info, indent=4)
