"""Training: how much of a step is spent waiting for data (bar 15 %)."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from robots.episodes import EpisodesWriter, Feature
from robots.progress import Progress
from training.config import ComponentConfig, TrainConfig
from training.loop import train

BAR = 0.15
EPISODES, TICKS, SIZE, STEPS = 12, 280, 64, 40
VIEWS = ("head", "right_wrist", "left_wrist")


def write_episodes(root: Path) -> None:
    """Episodes of the size the bench cell records: 54 joints, three small views, 12.5 new frames a second."""
    joints = [f"{side}_{part}{i}" for side in ("right", "left") for part, n in PARTS for i in range(1, n + 1)]
    features = {"observation.state": Feature.vector(joints), "action": Feature.vector(joints)}
    features |= {f"observation.images.{view}": Feature.video(SIZE, SIZE) for view in VIEWS}
    rng = np.random.default_rng(0)
    with EpisodesWriter.create(root, fps=50, robot_type="benchmark", features=features) as writer:
        for _ in range(EPISODES):
            q = np.cumsum(rng.normal(0, 0.01, (TICKS, len(joints))), 0).astype(np.float32)
            with writer.episode(task="pick up the can and place it in the left bin") as episode:
                for tick in range(TICKS):
                    if tick % 4 == 0:
                        images = rng.integers(0, 255, (len(VIEWS), SIZE, SIZE, 3), dtype=np.uint8)
                    row = {f"observation.images.{view}": images[i] for i, view in enumerate(VIEWS)}
                    episode.add(row | {"observation.state": q[tick], "action": q[min(tick + 2, TICKS - 1)]})
                episode.commit(extra={})


PARTS = (("arm_joint", 7), ("hand_joint", 20))


def run() -> list[dict[str, Any]]:
    """Train a little and read the run's own measurement, the first steps left out."""
    with tempfile.TemporaryDirectory() as scratch, Path(os.devnull).open("w") as silence:
        folder = Path(scratch)
        write_episodes(folder / "episodes")
        component = ComponentConfig(str(folder / "episodes"))
        config = TrainConfig((component,), steps=STEPS, log_every=STEPS // 4, cache_dir=str(folder / "cache"))
        train(config, folder / "out", Progress(events=True, stream=silence))
        rows = [json.loads(line) for line in (folder / "out" / "metrics.jsonl").read_text().splitlines()]
    waits = [row["value"] for row in rows if row["name"] == "data_wait"][1:]
    speeds = [row["value"] for row in rows if row["name"] == "steps_per_minute"][1:]
    value = float(np.mean(waits))
    detail = f"batch {config.batch}, three {SIZE} px views, one thread, {np.mean(speeds):.0f} steps a minute"
    return [{"name": "training data wait share", "value": value, "bar": BAR, "ok": value <= BAR, "detail": detail}]


if __name__ == "__main__":
    print(json.dumps(run()))
