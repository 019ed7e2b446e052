"""Demonstrations on bench cells: they succeed, and look like a person's."""

from collections import Counter

import numpy as np
import pytest

from robots.cell.bench import BENCH_CELL
from robots.cell.description import CONTROL_DT
from robots.cell.initial import InitialState, sample_initial_state
from robots.cell.kinematics import ArmKinematics
from robots.demonstrator.session import Recording, demonstrate
from robots.drivers.bench import BenchCell
from robots.perception.sighting import NothingSeenError

KINEMATICS = ArmKinematics(BENCH_CELL)


def attempt(bench: BenchCell, initial: InitialState, seed: int, views: tuple[str, ...] = ()) -> Recording:
    bench.operator.place(initial)
    bench.drivers.refresh()
    return demonstrate(bench.drivers, BENCH_CELL, KINEMATICS, initial.object, initial.bin, np.random.default_rng(seed),
                       views=views, is_over=bench.referee.is_over)  # fmt: skip


def test_a_can_is_picked_from_a_shifted_belt_and_recorded_in_full():
    with BenchCell.start(seed=2) as bench:
        bench.drivers.stream(BENCH_CELL.policy_views, image_size=32, fps=12.5)
        initial = InitialState("can", (0.01, 0.2, 0.04), belt_speed=0.12, bin="right")
        rec = attempt(bench, initial, 1, BENCH_CELL.policy_views)
        verdict = bench.referee.verdict()
    assert verdict.success
    assert verdict.furthest_stage == "placed"
    n = len(rec.state)
    assert rec.action.shape == rec.state.shape == (n, 54)
    for view in BENCH_CELL.policy_views:
        assert rec.images[view].shape[1:] == (32, 32, 3)
        assert len(rec.frame_index[view]) == n
        assert 0.2 < len(rec.images[view]) / n < 0.3
    assert rec.phases["retreat"][1] == n
    assert np.abs(rec.action[:, 27:] - BENCH_CELL.home_state[27:]).max() < 1e-6
    assert np.abs(np.diff(rec.action[:, :7], axis=0)).max() / CONTROL_DT < 5.0


def test_without_an_object_there_is_nothing_to_demonstrate():
    with BenchCell.start(seed=2) as bench, pytest.raises(NothingSeenError):
        demonstrate(bench.drivers, BENCH_CELL, KINEMATICS, "can", "left", np.random.default_rng(0))


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("name", "needed"), [("box", 0.95), ("can", 0.95), ("bottle", 0.95), ("ball", 0.85)])
def test_demonstrations_succeed_in_worlds_the_demonstrator_does_not_know(name, needed):
    outcomes: Counter[str] = Counter()
    for bench_seed in (0, 1, 2, 3):
        rng = np.random.default_rng([bench_seed, 17])
        with BenchCell.start(seed=bench_seed) as bench:
            for k in range(12):
                attempt(bench, sample_initial_state(BENCH_CELL, rng, objects=(name,)), k)
                outcomes[bench.referee.verdict().failure_mode or "success"] += 1
    print(f"{name}: {dict(outcomes)}")
    assert outcomes["success"] / outcomes.total() >= needed, dict(outcomes)
