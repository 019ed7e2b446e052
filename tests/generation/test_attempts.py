"""Attempts follow from seed and number alone; configurations say which field is wrong."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from generation.attempts import NoiseLevels, Sampling, Simulator
from generation.behavior.demonstration import Demonstration
from generation.behavior.source import Adaptation
from generation.behavior.synthesize import Synthesizer
from generation.config import GenerateConfig, RegisterConfig
from generation.physics import CpuEngine
from robots.cell.bench import BENCH_CELL
from robots.cell.description import STEPS_PER_TICK
from robots.cell.scene import Scene
from robots.cell.world import WorldParameters
from robots.config import from_json
from robots.errors import ConfigError

QUIET = NoiseLevels(0, 0, 0)
SAMPLING = Sampling(BENCH_CELL, 4, ("box", "can"), (0.05, 0.2), NoiseLevels())


def test_objects_take_turns_and_starts_repeat() -> None:
    starts = [SAMPLING.initial(k) for k in range(6)]
    assert [start.object for start in starts] == ["box", "can"] * 3
    assert starts == [SAMPLING.initial(k) for k in range(6)]
    assert all(0.05 <= start.belt_speed <= 0.2 for start in starts)


def test_command_noise_has_the_declared_size_on_the_declared_share_of_episodes() -> None:
    noise = np.stack([SAMPLING.command_noise(k, 300) for k in range(200)])
    noisy = np.abs(noise).max((1, 2)) > 0
    assert noisy.mean() == pytest.approx(0.8, abs=0.1)
    assert noise[noisy, 100:, :7].std() == pytest.approx(0.012, rel=0.1)
    assert noise[noisy, 100:, 7:27].std() == pytest.approx(0.024, rel=0.1)
    assert (noise[:, :, 27:] == 0).all()


def test_noise_of_a_longer_episode_begins_with_that_of_a_shorter_one() -> None:
    np.testing.assert_array_equal(SAMPLING.command_noise(3, 50), SAMPLING.command_noise(3, 80)[:50])


def _simulator(scene: Scene, behavior: Any, noise: NoiseLevels = QUIET) -> Simulator:
    engine = CpuEngine(scene.model, 8, STEPS_PER_TICK)
    return Simulator(replace(SAMPLING, noise=noise), scene.world, behavior, scene, engine)


def test_adapted_demonstrations_succeed_in_physics(scene: Scene, demonstrations: list[Demonstration]) -> None:
    done = _simulator(scene, Adaptation(demonstrations)).run(range(4))
    kept = [trajectory for trajectory in done if trajectory.reason is None]
    assert len(kept) >= 3
    for trajectory in kept:
        assert trajectory.actions is not None and trajectory.qpos is not None
        assert trajectory.actions.shape == (len(trajectory.qpos), 54) and trajectory.actions.dtype == np.float32
        assert str(trajectory.source["source_demonstration"]).startswith("episode ")


def test_synthesised_motions_succeed_in_physics(scene: Scene, world: WorldParameters) -> None:
    done = _simulator(scene, Synthesizer.of(BENCH_CELL, world)).run(range(4))
    assert sum(trajectory.reason is None for trajectory in done) >= 3


def test_an_attempt_comes_out_the_same_in_any_block(scene: Scene, world: WorldParameters) -> None:
    simulator = _simulator(scene, Synthesizer.of(BENCH_CELL, world), NoiseLevels())
    together, alone = simulator.run(range(3)), simulator.run([1])
    assert together[1].reason == alone[0].reason
    np.testing.assert_array_equal(together[1].qpos, alone[0].qpos)


VALID: dict[str, Any] = {"world": "w.json", "behavior": "synthesize", "n": 3}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("n", 0),
        ("behavior", "copy"),
        ("objects", []),
        ("objects", ["teapot"]),
        ("belt_speed", [0.2, 0.1]),
        ("belt_speed", [0.1, 2.0]),
        ("image_size", 33),
        ("image_size", 4096),
        ("camera_fps", 0),
        ("workers", -1),
        ("min_yield", 1.5),
    ],
)
def test_an_impossible_value_is_refused_by_name(field: str, value: Any) -> None:
    with pytest.raises(ConfigError) as refused:
        from_json(GenerateConfig, VALID | {field: value})
    assert (refused.value.field or "").split("[")[0] == field


def test_adapting_needs_demonstrations() -> None:
    with pytest.raises(ConfigError, match="demonstrations"):
        GenerateConfig(Path("w.json"), "adapt", 3)


def test_too_few_board_views_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"board_views: must be 3\.\.60"):
        RegisterConfig(board_views=2)
