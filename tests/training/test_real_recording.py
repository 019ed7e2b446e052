"""A policy trains on a real robot's demonstrations: one view, 26 joints, 30 frames a second, most videos missing."""

from pathlib import Path

import numpy as np

from robots.episodes import import_episodes
from robots.progress import Progress
from training.config import ComponentConfig, TrainConfig
from training.inference import TrainedPolicy
from training.loop import train


def test_imported_humanoid_recording_trains_and_acts(shared_data: Path, tmp_path: Path) -> None:
    import_episodes(shared_data / "lerobot_v21_g1_bottle", tmp_path / "g1")
    component = ComponentConfig(str(tmp_path / "g1"), kind="real")
    config = TrainConfig((component,), steps=20, image_size=32, batch_size=16, cache_dir=str(tmp_path / "cache"))
    result = train(config, tmp_path / "out", Progress(events=True))
    (dataset,) = result["datasets"]
    assert (dataset["episodes"], dataset["skipped_episodes"]) == (5, 95)
    policy = TrainedPolicy.load(tmp_path / "out" / "final")
    assert policy.net.shape.views == ("cam_high",)
    assert policy.facts.codec.synergies == ()
    actions = policy.act(policy.blank())
    assert actions.shape == (40, 26)
    assert np.isfinite(actions).all()
