"""A small episodes folder in which a bright square tells where the arm shall go."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from robots.episodes import EpisodesWriter, Feature

NAMES = [f"right_arm_joint{i}" for i in range(1, 4)]
NAMES += [f"right_hand_index_S{i}" for i in range(1, 5)] + ["left_arm_joint1"]
HELD = 0.123456789


def episode_arrays(rng: np.random.Generator, length: int) -> dict[str, np.ndarray]:
    """Joints that move to a target, a hand on one synergy, a left arm that holds its pose; images that show where."""
    target = rng.uniform(-0.5, 0.5, 3)
    ramp = np.linspace(0, 1, length)[:, None]
    action = np.concatenate([ramp * target, ramp * np.array([0.2, 0.4, 0.6, 0.8]), np.full((length, 1), HELD)], 1)
    frames = np.zeros((length, 16, 16, 3), np.uint8)
    frames[:, int(8 + 12 * target[0]) % 16, 4:8] = 255
    noise = 0.002 * rng.normal(size=action.shape)
    return {"observation.state": action + noise, "action": action, "observation.images.head": frames}


def write_folder(root: Path, *, lengths: tuple[int, ...], fps: int = 50, seed: int = 0, robot: str = "toy") -> Path:
    """An episodes folder with one view."""
    features = {
        "observation.state": Feature.vector(NAMES),
        "action": Feature.vector(NAMES),
        "observation.images.head": Feature.video(16, 16),
    }
    rng = np.random.default_rng(seed)
    with EpisodesWriter.create(root, fps=fps, robot_type=robot, features=features) as writer:
        for i, length in enumerate(lengths):
            columns = episode_arrays(rng, length)
            with writer.episode(task=f"go {'left' if i % 2 else 'right'}") as episode:
                for row in range(length):
                    episode.add(
                        {
                            key: value[row] if value.dtype == np.uint8 else value[row].astype(np.float32)
                            for key, value in columns.items()
                        }
                    )
                episode.commit(extra={})
    return root


@pytest.fixture
def make_folder(tmp_path: Path) -> Callable[..., Path]:
    """`make_folder("a", lengths=(50, 40))`: an episodes folder under the test's own directory."""

    def make(name: str, **options: object) -> Path:
        return write_folder(tmp_path / name, **options)

    return make


@pytest.fixture(scope="session")
def toy_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six episodes of 60 ticks, shared by the tests that only read it."""
    return write_folder(tmp_path_factory.mktemp("toy") / "episodes", lengths=(60,) * 6)


@pytest.fixture(scope="session")
def frame_cache(tmp_path_factory: pytest.TempPathFactory) -> str:
    """One frame cache for the session."""
    return str(tmp_path_factory.mktemp("frames"))
