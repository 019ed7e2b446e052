"""A small LeRobot v2.1 folder, as another lab would hand it over."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from robots.episodes.video import VideoWriter

FPS, SIZE, ROWS = 20, 64, 50
VIEW = "observation.images.top"
NAMES = ["right_arm_joint1", "right_arm_joint2", "right_hand_grip"]


def make_v21(root: Path, *, episodes: int = 3) -> Path:
    """Every episode has rows; the last one's video is missing."""
    (root / "meta").mkdir(parents=True)
    (root / "meta" / "info.json").write_text(json.dumps(_info(episodes)))
    rows = [{"episode_index": n, "tasks": ["lift the cup"], "length": ROWS} for n in range(episodes)]
    _write_lines(root / "meta" / "episodes.jsonl", rows)
    _write_lines(root / "meta" / "tasks.jsonl", [{"task_index": 0, "task": "lift the cup"}])
    for number in range(episodes):
        _write_rows(root, number)
        if number < episodes - 1:
            _write_video(root, number)
    return root


def _info(episodes: int) -> dict:
    vector = {"dtype": "float32", "shape": [len(NAMES)], "names": NAMES}
    return {
        "codebase_version": "v2.1",
        "robot_type": "small_arm",
        "fps": FPS,
        "total_episodes": episodes,
        "total_frames": episodes * ROWS,
        "total_tasks": 1,
        "chunks_size": 1000,
        "data_path": "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet",
        "video_path": "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4",
        "features": {
            "observation.state": vector,
            "action": vector,
            VIEW: {"dtype": "video", "shape": [SIZE, SIZE, 3], "names": ["height", "width", "channels"]},
        },
    }


def _write_rows(root: Path, number: int) -> None:
    times = np.arange(ROWS) / FPS
    state = np.stack([np.sin(times + number + joint) for joint in range(len(NAMES))], 1).astype(np.float32)
    vector = pa.list_(pa.float32(), len(NAMES))
    columns = {
        "observation.state": pa.array(state.tolist(), vector),
        "action": pa.array((state + 0.05).tolist(), vector),
        "timestamp": pa.array(times.tolist(), pa.float32()),
        "frame_index": pa.array(range(ROWS), pa.int64()),
        "episode_index": pa.array([number] * ROWS, pa.int64()),
        "index": pa.array(range(number * ROWS, (number + 1) * ROWS), pa.int64()),
        "task_index": pa.array([0] * ROWS, pa.int64()),
    }
    path = root / f"data/chunk-000/episode_{number:06d}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)


def _write_video(root: Path, number: int) -> None:
    path = root / f"videos/chunk-000/{VIEW}/episode_{number:06d}.mp4"
    path.parent.mkdir(parents=True, exist_ok=True)
    with VideoWriter(path, FPS, SIZE, SIZE) as video:
        for row in range(ROWS):
            image = np.full((SIZE, SIZE, 3), 60, np.uint8)
            image[:, row : row + 8] = (230, 160, 40)
            video.add(image)


def _write_lines(path: Path, rows: list[dict]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
