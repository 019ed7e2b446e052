"""What becomes of a block of rollouts on the disk: an episodes folder, one episode a rollout, as of a real trial.

Videos are written while the rollouts run, so that no more than a request's frames are held in memory.
"""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import av
import numpy as np
from numpy.typing import NDArray

from generation.arrays import Array
from robots.cell.description import CONTROL_HZ, CellDescription
from robots.episodes import EpisodesWriter, Feature, VideoEncoding
from robots.episodes.stats import PixelStats
from robots.episodes.video import VideoWriter

IMAGES = "observation.images."
ENCODING = VideoEncoding(crf=23, preset="ultrafast", gop=48)  # to be looked at, not trained on: cheap before exact

Images = Mapping[str, NDArray[np.uint8]]


@dataclass(frozen=True)
class Stretch:
    """What happened in one rollout between two requests.

    Attributes:
        states: measured joint positions at each tick, before its command (K, 54).
        actions: joint targets that the controller took (K, 54).
        frames: how many ticks into the stretch a frame was taken, rising, and its image by view.
    """

    states: Array
    actions: Array
    frames: Sequence[tuple[int, Images]]


class Recorder(Protocol):
    """Takes in the rollouts of a block, number by number."""

    @property
    def frame_ticks(self) -> int:
        """Ticks between frames, a divisor of the ticks between requests."""

    def add(self, number: int, stretch: Stretch) -> None:
        """What rollout `number` of the block did next."""


class BlockRecorder:
    """Records a block into a folder that is whole or absent: `write` ends it, leaving the context drops the rest.

    Args:
        views: of the videos; none for joints alone. image_size: side of the square views [px].
    """

    def __init__(
        self, folder: Path, cell: CellDescription, views: Sequence[str], image_size: int, frame_ticks: int
    ) -> None:
        self.frame_ticks = frame_ticks
        self._folder, self._cell, self._views, self._size = folder, cell, tuple(views), image_size
        self._partial = folder.with_name(f".{folder.name}.partial")
        self._scratch = folder.with_name(f".{folder.name}.videos")
        self._rollouts: dict[int, _Recorded] = {}

    def __enter__(self) -> "BlockRecorder":
        self._clear()
        self._scratch.mkdir(parents=True)
        return self

    def __exit__(self, *_: object) -> None:
        for recorded in self._rollouts.values():
            recorded.close()
        self._clear()

    def add(self, number: int, stretch: Stretch) -> None:
        """Append a stretch to a rollout of the block."""
        if number not in self._rollouts:
            self._rollouts[number] = _Recorded(self._scratch / str(number), self._views, self._size)
        self._rollouts[number].add(stretch)

    def write(self, tasks: Sequence[str], facts: Sequence[Mapping[str, Any]]) -> list[int | None]:
        """Put the folder in its place.

        Args:
            tasks: the instruction of every rollout of the block. facts: extra columns of every episode.

        Returns:
            each rollout's episode in the folder; None for one that ended before its first row.
        """
        vector = Feature.vector(self._cell.joint_names, units="rad")
        features = {"observation.state": vector, "action": vector}
        features |= {IMAGES + view: Feature.video(self._size, self._size) for view in self._views}
        with EpisodesWriter.create(
            self._partial, fps=CONTROL_HZ, robot_type=self._cell.name, features=features
        ) as writer:
            made = [
                self._commit(writer, n, task, fact) for n, (task, fact) in enumerate(zip(tasks, facts, strict=True))
            ]
        shutil.rmtree(self._folder, ignore_errors=True)
        self._partial.rename(self._folder)
        return made

    def _commit(self, writer: EpisodesWriter, number: int, task: str, facts: Mapping[str, Any]) -> int | None:
        recorded = self._rollouts.get(number)
        if recorded is None:
            return None
        with writer.episode(task=task) as episode:
            for view, (path, pixels) in recorded.videos().items():
                episode.attach_video(IMAGES + view, path, pixels.result())
            episode.add_rows(recorded.columns())
            return episode.commit(extra=facts)

    def _clear(self) -> None:
        for scratch in (self._partial, self._scratch):
            shutil.rmtree(scratch, ignore_errors=True)


class _Recorded:
    """One rollout so far: its rows in memory, its videos in files."""

    def __init__(self, folder: Path, views: Sequence[str], size: int) -> None:
        folder.mkdir()
        self._paths = {view: folder / f"{view}.mp4" for view in views}
        self._writers = {
            view: VideoWriter(path, CONTROL_HZ, size, size, ENCODING) for view, path in self._paths.items()
        }
        self._pixels = {view: PixelStats() for view in views}
        self._states: list[Array] = []
        self._actions: list[Array] = []

    def add(self, stretch: Stretch) -> None:
        """One frame a row: the newest that was there."""
        self._states.append(stretch.states)
        self._actions.append(stretch.actions)
        ends = [tick for tick, _ in stretch.frames[1:]] + [len(stretch.states)]
        for (tick, images), end in zip(stretch.frames, ends, strict=True):
            for view in self._writers:
                self._show(view, images[view], min(end, len(stretch.states)) - tick)

    def _show(self, view: str, image: NDArray[np.uint8], rows: int) -> None:
        if rows <= 0:
            return
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(image), format="rgb24").reformat(format="yuv420p")
        for _ in range(rows):
            self._writers[view].add_frame(frame)
        self._pixels[view].add(image)

    def columns(self) -> dict[str, NDArray[np.float32]]:
        """States and actions (T, 54)."""
        return {
            "observation.state": np.concatenate(self._states).astype(np.float32),
            "action": np.concatenate(self._actions).astype(np.float32),
        }

    def videos(self) -> dict[str, tuple[Path, PixelStats]]:
        """Finished files by view, and the statistics of their frames."""
        self.close()
        return {view: (path, self._pixels[view]) for view, path in self._paths.items()}

    def close(self) -> None:
        for writer in self._writers.values():
            writer.close()
