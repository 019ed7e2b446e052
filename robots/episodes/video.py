"""Video files of an episodes folder: encode frames, find and decode them by presentation time."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import av
import numpy as np
from av.container import InputContainer
from av.error import FFmpegError
from av.video.reformatter import VideoReformatter
from av.video.stream import VideoStream
from numpy.typing import NDArray

from robots.errors import DataError

Image = NDArray[np.uint8]


@dataclass(frozen=True)
class VideoEncoding:
    """How frames are compressed: H.264 with a short group of pictures, so that any frame is cheap to reach."""

    crf: int = 20
    preset: str = "veryfast"
    gop: int = 10

    def options(self) -> dict[str, str]:
        """Options of the libx264 encoder; no B-frames, so frames are stored in the order they are shown."""
        return {"crf": str(self.crf), "preset": self.preset, "g": str(self.gop), "bf": "0"}


DEFAULT_ENCODING = VideoEncoding()


class Window(NamedTuple):
    """A half-open interval of a video file [s]; `tolerance_s` is half a frame, so that rounding takes no neighbour."""

    start_s: float
    stop_s: float
    tolerance_s: float

    def has(self, time_s: float) -> bool:
        """Whether a frame shown at `time_s` belongs to the interval."""
        return self.start_s - self.tolerance_s <= time_s < self.stop_s - self.tolerance_s


class VideoWriter:
    """Encodes RGB frames into an mp4 that browsers play (H.264, yuv420p, index in front)."""

    def __init__(
        self, path: Path, fps: float, height: int, width: int, encoding: VideoEncoding = DEFAULT_ENCODING
    ) -> None:
        self.frames = 0
        self._is_open = True
        self._container = av.open(str(path), "w", options={"movflags": "faststart"})
        self._stream = self._container.add_stream("libx264", rate=_rate(fps), options=encoding.options())
        self._stream.width, self._stream.height, self._stream.pix_fmt = width, height, "yuv420p"
        self._stream.codec_context.thread_count = 1

    def add(self, image: Image) -> None:
        """Append one frame, uint8 (H, W, 3)."""
        self.add_frame(av.VideoFrame.from_ndarray(np.ascontiguousarray(image), format="rgb24"))

    def add_frame(self, frame: av.VideoFrame) -> None:
        """Append one decoded frame at the next time step, whatever its own time was."""
        frame.pts, frame.time_base = self.frames, 1 / _rate(float(self._stream.average_rate or 1))
        self._container.mux(self._stream.encode(frame))
        self.frames += 1

    def close(self) -> None:
        """Write what is left and finish the file; closing twice is harmless."""
        if not self._is_open:
            return
        self._is_open = False
        if self.frames:
            self._container.mux(self._stream.encode(None))
        self._container.close()

    def __enter__(self) -> "VideoWriter":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def stream_info(path: Path) -> dict[str, Any]:
    """Facts of a video stream under the names of info.json."""
    with _open(path) as (_, stream):
        rate = stream.average_rate or stream.base_rate or Fraction(0)
        return {
            "video.height": stream.height,
            "video.width": stream.width,
            "video.codec": stream.codec_context.codec.canonical_name,
            "video.pix_fmt": stream.pix_fmt,
            "video.is_depth_map": False,
            "video.fps": int(rate) if rate.denominator == 1 else float(rate),
            "video.channels": 3,
            "has_audio": False,
        }


def iter_frames(path: Path, window: Window | None = None) -> Iterator[tuple[float, av.VideoFrame]]:
    """Decoded frames of a file in order of presentation, as (time [s], frame); only those inside `window` if given."""
    with _open(path) as (container, stream):
        if window is not None:
            _seek(container, stream, window.start_s - window.tolerance_s)
        for frame in container.decode(stream):
            time_s = _seconds(stream, frame.pts)
            if window is not None and time_s >= window.stop_s - window.tolerance_s:
                return
            if window is None or window.has(time_s):
                yield time_s, frame


def count_frames(path: Path, window: Window | None = None) -> int:
    """Frames that really decode."""
    return sum(1 for _ in iter_frames(path, window))


def shown_times(path: Path, window: Window) -> NDArray[np.int64]:
    """Presentation stamps of the packets in a window, sorted, in ticks of the stream; nothing is decoded."""
    with _open(path) as (container, stream):
        _seek(container, stream, window.start_s - window.tolerance_s)
        stamps = []
        for packet in container.demux(stream):
            if packet.dts is not None and _seconds(stream, packet.dts) >= window.stop_s:
                break
            if packet.pts is not None and window.has(_seconds(stream, packet.pts)):
                stamps.append(packet.pts)
    return np.array(sorted(stamps), dtype=np.int64)


def read_frames(path: Path, times_s: NDArray[np.float64], window: Window) -> Image:
    """The frame nearest in presentation time to each wanted time, never one from outside the window.

    Args:
        path: mp4 file, possibly holding several episodes.
        times_s: (n,) times in the file [s].
        window: the episode's part of the file.

    Returns:
        uint8 (n, H, W, 3).

    Raises:
        DataError: unreadable file, or no frame in the window.
    """
    stamps = shown_times(path, window)
    if len(stamps) == 0:
        raise DataError(f"{path}: no frame between {window.start_s:.3f} and {window.stop_s:.3f} s")
    with _open(path) as (container, stream):
        seconds = (stamps * float(stream.time_base or 0)).astype(np.float64)
        wanted = stamps[_nearest(seconds, times_s)]
        return _decode_stamps(container, stream, wanted, path)


def _decode_stamps(container: InputContainer, stream: VideoStream, wanted: NDArray[np.int64], path: Path) -> Image:
    rows: dict[int, list[int]] = {}
    for row, stamp in enumerate(wanted.tolist()):
        rows.setdefault(stamp, []).append(row)
    out = np.empty((len(wanted), stream.height, stream.width, 3), dtype=np.uint8)
    left, last = set(rows), max(rows, default=0)
    if left:
        _seek(container, stream, _seconds(stream, min(rows)))
        to_rgb = VideoReformatter()  # one for all frames: a frame's own would set up the conversion each time
        for frame in container.decode(stream):
            if frame.pts in left:
                out[rows[frame.pts]] = to_rgb.reformat(frame, format="rgb24").to_ndarray()
                left.discard(frame.pts)
            if not left or (frame.pts is not None and frame.pts > last):
                break
    if left:
        raise DataError(
            f"{path}: {len(left)} listed frames do not decode, the first at {_seconds(stream, min(left)):.3f} s"
        )
    return out


def _nearest(sorted_times: NDArray[np.float64], wanted: NDArray[np.float64]) -> NDArray[np.int64]:
    right = np.clip(np.searchsorted(sorted_times, wanted), 0, len(sorted_times) - 1)
    left = np.maximum(right - 1, 0)
    closer_left = np.abs(sorted_times[left] - wanted) <= np.abs(sorted_times[right] - wanted)
    return np.where(closer_left, left, right)


@contextmanager
def _open(path: Path) -> Iterator[tuple[InputContainer, VideoStream]]:
    """A file and its first video stream; anything libav cannot do with it becomes a DataError naming the file."""
    try:
        with av.open(str(path)) as container:
            if not container.streams.video:
                raise DataError(f"{path} holds no video stream")
            stream = container.streams.video[0]
            stream.codec_context.thread_count = 1
            yield container, stream
    except (FFmpegError, OSError) as error:
        raise DataError(f"{path} cannot be read as video: {error}") from error


def _seek(container: InputContainer, stream: VideoStream, time_s: float) -> None:
    container.seek(max(0, int(time_s / float(stream.time_base or 1))), stream=stream, backward=True)


def _seconds(stream: VideoStream, stamp: int | None) -> float:
    return float((stamp or 0) * (stream.time_base or 0))


def _rate(fps: float) -> Fraction:
    return Fraction(fps).limit_denominator(1001)
