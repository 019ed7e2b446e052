"""Batches: declared shares, masks, statistics, and what cannot be mixed."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from robots.errors import DataError
from robots.progress import Progress
from training.config import ComponentConfig, TrainConfig
from training.job import Job, prepare
from training.model.policy import Policy
from training.step import batch_loss

HELD = 0.123456789


@pytest.fixture
def job_of(frame_cache: str) -> Callable[..., Job]:
    """`job_of((folder, weight), ...)`: a job over these folders."""

    def make(*parts: tuple[Path, float]) -> Job:
        components = tuple(ComponentConfig(str(path), weight) for path, weight in parts)
        config = TrainConfig(components, steps=1, image_size=16, cache_dir=frame_cache, precision="float32")
        return prepare(config, Progress(events=True))

    return make


def test_realised_fractions_follow_the_declared_weights(make_folder: Callable[..., Path], job_of: Callable) -> None:
    small, large = make_folder("small", lengths=(30,)), make_folder("large", lengths=(60,) * 4, seed=1)
    mixture = job_of((small, 3.0), (large, 1.0)).mixture
    batch = mixture.draw(np.random.default_rng(0), 4000)
    assert np.mean(batch.component == 0) == pytest.approx(0.75, abs=0.03)


def test_same_random_state_draws_the_same_batch(toy_folder: Path, job_of: Callable) -> None:
    mixture = job_of((toy_folder, 1.0)).mixture
    a, b = (mixture.draw(np.random.default_rng(5), 16) for _ in range(2))
    assert (a.latent == b.latent).all()
    assert (a.images == b.images).all()


def test_held_joint_is_no_part_of_the_latent_and_comes_back_as_the_constant(toy_folder: Path, job_of: Callable) -> None:
    mixture = job_of((toy_folder, 1.0)).mixture
    assert mixture.codec.latent_dim == 4
    decoded = mixture.codec.decode(np.full((40, 4), 7, np.float32), np.zeros(8, np.float32))
    assert (decoded[:, -1] == np.float32(HELD)).all()


def test_instruction_belongs_to_its_episode(toy_folder: Path, job_of: Callable) -> None:
    mixture = job_of((toy_folder, 1.0)).mixture
    part = mixture.components[0]
    told = [part.texts[i] for i in part.instruction]
    assert told == [f"go {'left' if e % 2 else 'right'}" for e in part.windows.episode]


def test_padded_values_change_the_loss_of_a_whole_step_by_exactly_zero(
    make_folder: Callable[..., Path], job_of: Callable
) -> None:
    job = job_of((make_folder("short", lengths=(12, 45)), 1.0))
    torch.manual_seed(0)
    net = Policy(job.shape).eval()
    batch = job.mixture.draw(np.random.default_rng(0), 16)
    latent = np.where(batch.is_valid[..., None], batch.latent, np.nan)
    losses = []
    for values in (batch.latent, latent):
        torch.manual_seed(1)
        losses.append(batch_loss(job, net, replace(batch, latent=values)).item())
    assert not batch.is_valid.all()
    assert losses[0] == losses[1]


def test_thirty_frames_a_second_mix_with_fifty(make_folder: Callable[..., Path], job_of: Callable) -> None:
    slow, fast = make_folder("slow", lengths=(40,), fps=30), make_folder("fast", lengths=(40,), seed=1)
    batch = job_of((slow, 1.0), (fast, 1.0)).mixture.draw(np.random.default_rng(0), 8)
    assert batch.latent.shape == (8, 40, 4)
    assert batch.state.shape == (8, 20, 8)


def test_other_robots_are_not_mixed(make_folder: Callable[..., Path], job_of: Callable) -> None:
    a, b = make_folder("a", lengths=(20,)), make_folder("b", lengths=(20,), robot="other")
    with pytest.raises(DataError, match="embodiment differ"):
        job_of((a, 1.0), (b, 1.0))


def test_unknown_view_names_those_that_are_there(toy_folder: Path, frame_cache: str) -> None:
    config = TrainConfig((ComponentConfig(str(toy_folder)),), steps=1, views=("wrist",), cache_dir=frame_cache)
    with pytest.raises(DataError, match="no view wrist; it has head"):
        prepare(config, Progress(events=True))


def test_frames_are_decoded_once(toy_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = TrainConfig((ComponentConfig(str(toy_folder)),), steps=1, image_size=16, cache_dir=str(tmp_path))
    first = prepare(config, Progress(events=True)).mixture.components[0].frames
    monkeypatch.setattr("training.data.frames.EpisodesReader.video_frames", None)
    again = prepare(config, Progress(events=True)).mixture.components[0].frames
    assert (first == again).all()
    assert first.shape == (6 * 15, 1, 16, 16, 3)
    assert first.max() > 200
