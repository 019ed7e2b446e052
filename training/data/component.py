"""One episodes folder as arrays: joints on the 50 Hz grid, windows, decoded frames."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robots.episodes import EpisodesReader
from robots.errors import DataError
from robots.progress import Progress
from training.config import ComponentConfig
from training.data.fingerprint import dataset_fingerprint
from training.data.frames import FrameRequest, open_frames
from training.data.grid import grid_length, to_grid
from training.data.windows import WindowIndex, index_windows

STATE, ACTION, IMAGE = "observation.state", "action", "observation.images."


@dataclass(frozen=True)
class Signature:
    """What the components of one mixture must share.

    Attributes:
        embodiment: robot type of the episodes.
        state_names, action_names: one per entry of the vectors.
        units: of the action entries, empty where the folder does not say.
        views: camera names without their prefix.
    """

    embodiment: str
    state_names: tuple[str, ...]
    action_names: tuple[str, ...]
    units: tuple[str, ...]
    views: tuple[str, ...]


@dataclass(frozen=True)
class Component:
    """A folder ready to draw windows from; all ticks of its episodes are concatenated.

    Attributes:
        config: path, weight and kind.
        fingerprint: hash of the folder.
        signature: see `Signature`.
        state, action: measured and commanded joints on the 50 Hz grid (T, D).
        windows: where training windows start.
        frames: uint8 (N, V, S, S, 3), one per window.
        instruction: index into `texts` of each window (N,).
        texts: distinct instructions.
        skipped: episodes left out because a view has no video.
    """

    config: ComponentConfig
    fingerprint: str
    signature: Signature
    state: np.ndarray
    action: np.ndarray
    windows: WindowIndex
    frames: np.ndarray
    instruction: np.ndarray
    texts: tuple[str, ...]
    skipped: tuple[int, ...]


def read_signature(reader: EpisodesReader, views: tuple[str, ...] | None, path: str) -> Signature:
    """Check that a folder has what a policy needs and say what it is.

    Raises:
        DataError: when the state, the action or a view is missing, naming what is there.
    """
    for key in (STATE, ACTION):
        if key not in reader.features:
            raise DataError(f"{path}: no feature {key!r}; it has {', '.join(reader.features)}")
    there = tuple(key.removeprefix(IMAGE) for key in reader.features if key.startswith(IMAGE))
    wanted = views or tuple(view for view in there if view != "external")
    missing = [view for view in wanted if view not in there]
    if missing or not wanted:
        raise DataError(f"{path}: no view {', '.join(missing) or 'at all'}; it has {', '.join(there) or 'none'}")
    state, action = reader.features[STATE], reader.features[ACTION]
    return Signature(
        str(reader.info.get("robot_type") or "unknown"),
        state.names or tuple(f"state_{i}" for i in range(state.shape[0])),
        action.names or tuple(f"action_{i}" for i in range(action.shape[0])),
        action.units or (),
        wanted,
    )


def load_component(
    config: ComponentConfig,
    *,
    views: tuple[str, ...] | None,
    stride: int,
    image_size: int,
    cache_dir: Path,
    progress: Progress,
) -> Component:
    """Read a folder's joints and open (or build) its decoded frames.

    Raises:
        DataError: when it is no episodes folder, lacks a feature, holds a value that is not finite, or has no
            episode with all views.
    """
    reader = EpisodesReader(Path(config.path))
    signature = read_signature(reader, views, config.path)
    keys = tuple(IMAGE + view for view in signature.views)
    rows = [row for row in reader.episodes if all(row.has_video.get(key, False) for key in keys)]
    skipped = tuple(row.index for row in reader.episodes if row not in rows)
    if not rows:
        raise DataError(f"{config.path}: none of {len(reader)} episodes has video for {', '.join(signature.views)}")
    columns = [_read_joints(reader, row.index, config.path) for row in rows]
    lengths = [grid_length(row.length, reader.fps) for row in rows]
    windows = index_windows(lengths, stride)
    starts = tuple(np.arange(0, length, stride) for length in lengths)
    fingerprint = dataset_fingerprint(Path(config.path))
    request = FrameRequest(fingerprint, keys, tuple(row.index for row in rows), starts, image_size)
    texts = tuple(sorted({row.task for row in rows}))
    return Component(
        config=config,
        fingerprint=fingerprint,
        signature=signature,
        state=np.concatenate([state for state, _ in columns]),
        action=np.concatenate([action for _, action in columns]),
        windows=windows,
        frames=open_frames(reader, request, cache_dir, progress),
        instruction=np.array([texts.index(row.task) for row in rows])[windows.episode],
        texts=texts,
        skipped=skipped,
    )


def _read_joints(reader: EpisodesReader, index: int, path: str) -> tuple[np.ndarray, np.ndarray]:
    """State and action of one episode on the 50 Hz grid, all finite."""
    columns = reader.read(index).columns
    for key in (STATE, ACTION):
        bad = np.argwhere(~np.isfinite(columns[key]))
        if len(bad):
            row, column = bad[0]
            raise DataError(f"{path}: episode {index}, row {row}, {key}[{column}] is not a finite number")
    return to_grid(columns[STATE], reader.fps), to_grid(columns[ACTION], reader.fps)
