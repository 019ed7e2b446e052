"""A clip of one episode that every browser plays: H.264, index in front, only this episode's frames."""

import shutil
from pathlib import Path

from robots.episodes.reader import EpisodesReader
from robots.episodes.video import VideoEncoding, VideoWriter, Window, iter_frames, stream_info

CLIP_ENCODING = VideoEncoding(crf=23, preset="veryfast", gop=15)


def write_clip(reader: EpisodesReader, index: int, key: str, dst: str | Path) -> Path:
    """Write the video of one episode and camera for playback.

    A file that holds just this episode in H.264 is copied; anything else (AV1, several episodes a file, images in the
    table) is decoded and encoded. `dst` appears only when it is whole.

    Raises:
        DataError: no such episode or camera, no video, or a broken file.
    """
    dst = Path(dst)
    dst.parent.mkdir(parents=True, exist_ok=True)
    part = dst.with_name(f".{dst.stem}.part.mp4")
    try:
        if reader.features.get(key) is not None and reader.features[key].dtype == "image":
            _encode_images(reader, index, key, part)
        elif is_playable(reader, index, key):
            shutil.copyfile(reader.video_file(index, key).path, part)
        else:
            _transcode(reader, index, key, part)
        part.replace(dst)
    finally:
        part.unlink(missing_ok=True)
    return dst


def is_playable(reader: EpisodesReader, index: int, key: str) -> bool:
    """Whether the stored file itself can be given to a browser: H.264 in yuv420p, and no other episode in it."""
    path = reader.video_file(index, key).path
    shared = sum(1 for row in reader.episodes if key in row.videos and row.videos[key].path == path)
    if shared > 1:
        return False
    info = stream_info(path)
    return bool(info["video.codec"] == "h264" and info["video.pix_fmt"] == "yuv420p")


def _transcode(reader: EpisodesReader, index: int, key: str, dst: Path) -> None:
    path, from_s, to_s = reader.video_file(index, key)
    info = stream_info(path)
    height, width = info["video.height"] // 2 * 2, info["video.width"] // 2 * 2
    with VideoWriter(dst, reader.fps, height, width, CLIP_ENCODING) as writer:
        for _, frame in iter_frames(path, Window(from_s, to_s, 0.5 / reader.fps)):
            writer.add_frame(frame.reformat(width=width, height=height, format="yuv420p"))


def _encode_images(reader: EpisodesReader, index: int, key: str, dst: Path) -> None:
    height, width = (size // 2 * 2 for size in reader.features[key].shape[:2])
    with VideoWriter(dst, reader.fps, height, width, CLIP_ENCODING) as writer:
        for row in range(reader.row(index).length):
            writer.add(reader.video_frames(index, key, row, row + 1)[0, :height, :width])
