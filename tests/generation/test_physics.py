"""The batched engine against the scene stepped alone; the pattern for the parity test of any further engine."""

import numpy as np
import pytest

from generation.physics import CpuEngine, Flag, roll_out
from generation.physics.scenes import start_of
from robots.cell.bench import BENCH_CELL
from robots.cell.description import STEPS_PER_TICK
from robots.cell.initial import InitialState, sample_initial_state
from robots.cell.scene import Scene

TICKS = 25


def _initials() -> list[InitialState]:
    rng = np.random.default_rng(3)
    return [sample_initial_state(BENCH_CELL, rng, objects=(name,), raise_belt=True) for name in ("box", "ball", "jar")]


def _targets(scene: Scene, n: int) -> np.ndarray:
    wave = 0.1 * np.sin(np.arange(TICKS) / 8)[None, :, None] * np.ones((n, 1, 27))
    return BENCH_CELL.home_state[:27] + wave * np.linspace(0.5, 1, n)[:, None, None]


def test_a_batch_is_bit_identical_to_the_scene_stepped_alone(scene: Scene) -> None:
    initials = _initials()
    ctrl = _targets(scene, len(initials))
    engine = CpuEngine(scene.model, 4, STEPS_PER_TICK, threads=2)
    rollout = roll_out(engine, [start_of(scene, initial) for initial in initials], ctrl)
    for i, initial in enumerate(initials):
        scene.reset(initial)
        for k in range(TICKS):
            action = BENCH_CELL.home_state
            action[scene.action_index] = ctrl[i, k]
            scene.step(action)
        np.testing.assert_array_equal(rollout.qpos[i, -1], scene.data.qpos)
        np.testing.assert_array_equal(rollout.qvel[i, -1], scene.data.qvel)
    assert (rollout.flags == Flag.OK).all()


def test_a_used_engine_repeats_itself_after_a_reset(scene: Scene) -> None:
    starts = [start_of(scene, initial) for initial in _initials()]
    ctrl = _targets(scene, len(starts))
    engine = CpuEngine(scene.model, 3, STEPS_PER_TICK)
    first = roll_out(engine, starts, ctrl)
    roll_out(engine, starts[::-1], ctrl)
    np.testing.assert_array_equal(roll_out(engine, starts, ctrl).qpos, first.qpos)


def test_finished_simulations_stand_still_and_the_rest_goes_on(scene: Scene) -> None:
    starts = [start_of(scene, initial) for initial in _initials()]
    engine = CpuEngine(scene.model, 3, STEPS_PER_TICK)
    rollout = roll_out(
        engine, starts, _targets(scene, 3), lambda tick, running, qpos, qvel: (running == 1) & (tick >= 10)
    )
    assert rollout.ticks.tolist() == [TICKS, 10, TICKS]
    assert (rollout.qpos[1, 10:] == rollout.qpos[1, 10]).all()


def test_a_diverging_simulation_is_flagged_and_its_neighbours_are_not(scene: Scene) -> None:
    starts = [start_of(scene, initial) for initial in _initials()]
    starts[1].state[:] = np.where(np.isfinite(starts[1].state), starts[1].state, 0)
    ctrl = _targets(scene, 3)
    ctrl[1, 5] = np.nan
    rollout = roll_out(CpuEngine(scene.model, 3, STEPS_PER_TICK), starts, ctrl)
    assert rollout.flags.tolist() == [Flag.OK, Flag.NAN, Flag.OK]


def test_full_contact_memory_is_flagged(scene: Scene) -> None:
    engine = CpuEngine(scene.model, 1, STEPS_PER_TICK)
    engine.reset([start_of(scene, _initials()[0])])
    engine._batch.warning[0, 1, 1] = 1  # mjWARN_CONTACTFULL, as the engine counts it
    assert engine.flags().tolist() == [Flag.OVERFLOW]


def test_more_starts_than_room_are_refused(scene: Scene) -> None:
    engine = CpuEngine(scene.model, 1, STEPS_PER_TICK)
    with pytest.raises(ValueError, match="2 starts for an engine of 1 to 1"):
        engine.reset([start_of(scene, initial) for initial in _initials()[:2]])
