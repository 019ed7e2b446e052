"""Small folders with a number burnt into every frame, so that each decoded frame says which row it belongs to."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from robots.episodes import EpisodesWriter, Feature
from robots.episodes.video import VideoWriter

CAMERA = "observation.images.head"
HEIGHT, WIDTH, BITS = 16, 96, 12
FPS = 20
NAMES = ["shoulder", "elbow", "wrist"]


def burn(number: int) -> np.ndarray:
    """An image showing a number as black and white blocks, one a bit."""
    bits = [(number >> bit) & 1 for bit in range(BITS)]
    row = np.repeat(np.array(bits, np.uint8) * 255, WIDTH // BITS)
    return np.broadcast_to(row[None, :, None], (HEIGHT, WIDTH, 3)).copy()


def read_back(images: np.ndarray) -> list[int]:
    """The numbers shown by images (n, H, W, 3)."""
    blocks = images.reshape(len(images), HEIGHT, BITS, WIDTH // BITS, 3).mean(axis=(1, 3, 4)) > 127
    return [int(sum(1 << bit for bit, on in enumerate(row) if on)) for row in blocks]


def number_of(episode: int, row: int) -> int:
    """What the frame of a row shows."""
    return episode * 64 + row


def features(**changes) -> dict[str, Feature]:
    """Three joints in radians and one camera."""
    plain = {
        "observation.state": Feature.vector(NAMES, units="rad"),
        "action": Feature.vector(NAMES, units="rad"),
        CAMERA: Feature.video(HEIGHT, WIDTH),
    }
    return plain | {name.replace("__", "."): feature for name, feature in changes.items()}


def rows_of(episode: int, length: int) -> dict[str, np.ndarray]:
    """State and action of an episode, told apart by their values."""
    state = 0.1 * episode + np.linspace(0, 1, length * 3).reshape(length, 3)
    return {"observation.state": state.astype(np.float32), "action": (state + 0.5).astype(np.float32)}


def write_episode(writer: EpisodesWriter, episode: int, length: int, extra=None, task="pick up the can") -> None:
    """Commit one episode of numbered frames."""
    images = np.stack([burn(number_of(episode, row)) for row in range(length)])
    with writer.episode(task=task) as draft:
        draft.add_rows(rows_of(episode, length) | {CAMERA: images})
        draft.commit({"seed": episode} if extra is None else extra)


def make_folder(root: Path, lengths=(5, 7, 4), first=0, **options) -> Path:
    """A folder of our own writer; frames of its i-th episode show `number_of(first + i, row)`."""
    settings = {"fps": FPS, "robot_type": "bench", "features": features()} | options
    with EpisodesWriter.create(root, **settings) as writer:
        for offset, length in enumerate(lengths):
            write_episode(writer, first + offset, length)
    return root


def make_foreign_folder(root: Path, lengths=(5, 7, 4, 6), per_video=2) -> Path:
    """A v3.0 folder as the format's own library writes it: one data file, one episodes file, video files that roll
    over after `per_video` episodes, tasks with an unnamed index, variable-size lists."""
    rows = {name: [] for name in ("observation.state", "action", "timestamp", "frame_index", "episode_index", "index")}
    episodes, first = [], 0
    for episode, length in enumerate(lengths):
        columns = rows_of(episode, length)
        rows["observation.state"] += columns["observation.state"].tolist()
        rows["action"] += columns["action"].tolist()
        rows["timestamp"] += (np.arange(length) / FPS).tolist()
        rows["frame_index"] += range(length)
        rows["episode_index"] += [episode] * length
        rows["index"] += range(first, first + length)
        start = sum(lengths[episode // per_video * per_video : episode]) / FPS
        episodes.append(
            {
                "episode_index": episode,
                "tasks": ["pick up the can"],
                "length": length,
                "data/chunk_index": 0,
                "data/file_index": 0,
                "dataset_from_index": first,
                "dataset_to_index": first + length,
                f"videos/{CAMERA}/chunk_index": 0,
                f"videos/{CAMERA}/file_index": episode // per_video,
                f"videos/{CAMERA}/from_timestamp": start,
                f"videos/{CAMERA}/to_timestamp": start + length / FPS,
                "meta/episodes/chunk_index": 0,
                "meta/episodes/file_index": 0,
            }
        )
        first += length
    number_column = pa.list_(pa.float32())
    table = pa.table(
        {
            "observation.state": pa.array(rows["observation.state"], number_column),
            "action": pa.array(rows["action"], number_column),
            "timestamp": pa.array(rows["timestamp"], pa.float32()),
            **{name: pa.array(rows[name], pa.int64()) for name in ("frame_index", "episode_index", "index")},
            "task_index": pa.array([0] * first, pa.int64()),
        }
    )
    _save(root / "data/chunk-000/file-000.parquet", table)
    _save(root / "meta/episodes/chunk-000/file-000.parquet", pa.Table.from_pylist(episodes))
    _save(root / "meta/tasks.parquet", pa.table({"task_index": [0], "__index_level_0__": ["pick up the can"]}))
    for file in range((len(lengths) + per_video - 1) // per_video):
        path = root / f"videos/{CAMERA}/chunk-000/file-{file:03d}.mp4"
        path.parent.mkdir(parents=True, exist_ok=True)
        with VideoWriter(path, FPS, HEIGHT, WIDTH) as video:
            for episode in range(file * per_video, min(len(lengths), (file + 1) * per_video)):
                for row in range(lengths[episode]):
                    video.add(burn(number_of(episode, row)))
    info = {
        "codebase_version": "v3.0",
        "robot_type": "bench",
        "total_episodes": len(lengths),
        "total_frames": first,
        "total_tasks": 1,
        "chunks_size": 1000,
        "fps": FPS,
        "splits": {"train": f"0:{len(lengths)}"},
        "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
        "video_path": "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4",
        "features": {
            **{name: feature.to_json() for name, feature in features().items()},
            "timestamp": {"dtype": "float32", "shape": [1], "names": None},
            **{
                name: {"dtype": "int64", "shape": [1], "names": None}
                for name in ("frame_index", "episode_index", "index", "task_index")
            },
        },
    }
    (root / "meta/info.json").write_text(json.dumps(info))
    return root


def _save(path: Path, table: pa.Table) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path)
