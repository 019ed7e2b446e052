"""Closed-loop rollouts in a simulated world, with policies that need no learning."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

from generation.evaluation import Evaluator, Outcome, Policy, RolloutOrder, Seen
from generation.evaluation.recording import Stretch
from generation.physics import CpuEngine
from generation.rendering import MujocoRenderer
from robots.cell.bench import BENCH_CELL
from robots.cell.description import STEPS_PER_TICK
from robots.cell.scene import Scene
from robots.errors import DataError
from tests.generation.evaluation.policies import Jittery, Replay, Still


@pytest.fixture(scope="module")
def renderer(scene: Scene) -> Iterator[MujocoRenderer]:
    renderer = MujocoRenderer(scene, 32)
    yield renderer
    renderer.close()


@pytest.fixture(scope="module")
def engine(scene: Scene) -> CpuEngine:
    return CpuEngine(scene.model, 4, STEPS_PER_TICK)


@pytest.fixture
def evaluate(scene: Scene, engine: CpuEngine, renderer: MujocoRenderer):
    def run(policy: Policy, orders: Sequence[RolloutOrder], **options: float) -> list[Outcome]:
        return Evaluator(scene, engine, renderer, **options).run(policy, orders)

    return run


def test_a_persons_commands_played_back_succeed(evaluate, orders, recordings) -> None:
    outcomes = evaluate(Replay(recordings), orders)
    assert [(o.success, o.furthest_stage, o.failure_mode) for o in outcomes] == [(True, "placed", "")] * 3
    assert all(2 < o.time_s < 12 for o in outcomes)
    for outcome in outcomes:
        assert list(outcome.stages)[:1] == ["approach"] and list(outcome.stages)[-1] == "placed"
        assert list(outcome.stages.values()) == sorted(outcome.stages.values())
        assert outcome.stages["placed"] <= outcome.time_s


def test_a_policy_that_does_nothing_misses_the_pick_when_time_is_up(evaluate, orders) -> None:
    outcomes = evaluate(Still(), orders, time_limit_s=3.0)
    stages = {"approach": 0.0}
    assert outcomes == [Outcome(o.number, False, "approach", "missed_pick", 3.0, "", stages) for o in orders]


def test_the_wrong_bin_is_named_as_such(evaluate, orders, recordings) -> None:
    left = next(order for order in orders if order.initial.bin == "left")
    other = next(order for order in orders if order.initial.bin == "right")
    swapped = {left.number: recordings[left.number]}
    ordered = replace(left, initial=replace(left.initial, bin=other.initial.bin))
    (outcome,) = evaluate(Replay(swapped), [ordered])
    assert (outcome.success, outcome.failure_mode) == (False, "wrong_bin")


def test_a_block_gives_what_its_rollouts_give_alone(evaluate, orders, recordings) -> None:
    policy = Replay(recordings)
    assert evaluate(policy, orders) == [evaluate(policy, [order])[0] for order in orders]


def test_the_same_seed_gives_the_same_rollouts_and_another_seed_does_not(scene, engine, renderer, orders) -> None:
    def end(seed: int) -> np.ndarray:
        Evaluator(scene, engine, renderer, seed=seed, time_limit_s=1.0).run(Jittery(), orders)
        return engine.positions().copy()

    first = end(1)
    assert np.array_equal(first, end(1))
    assert not np.array_equal(first, end(2))


def test_a_policy_is_asked_every_twelve_ticks_with_the_agents_history(evaluate, orders, recordings) -> None:
    policy = Still(BENCH_CELL.policy_views)
    evaluate(policy, orders[:1], time_limit_s=0.6)
    assert [seen.tick for seen in policy.seen] == [0, 12, 24]
    first, second, _ = policy.seen
    assert first.state.shape == (20, 54) and first.state.dtype == np.float32
    assert (first.state == first.state[0]).all()
    assert (second.state[:8] == first.state[0]).all()
    assert set(first.images) == set(BENCH_CELL.policy_views)
    assert first.images["head"].shape == (32, 32, 3)
    assert first.instruction == f"pick up the box and place it in the {orders[0].initial.bin} bin"


class Kept:
    """A recorder that keeps what it is given."""

    def __init__(self, frame_ticks: int) -> None:
        self.frame_ticks = frame_ticks
        self.stretches: dict[int, list[Stretch]] = {}

    def add(self, number: int, stretch: Stretch) -> None:
        self.stretches.setdefault(number, []).append(stretch)


def test_a_recorder_gets_every_row_of_a_rollout_and_the_frames_the_policy_saw(
    scene, engine, renderer, orders, recordings
) -> None:
    kept = Kept(12)
    (outcome,) = Evaluator(scene, engine, renderer).run(Replay(recordings), orders[:1], kept)
    stretches = kept.stretches[0]
    states, actions = (np.concatenate([getattr(s, name) for s in stretches]) for name in ("states", "actions"))
    assert len(states) == len(actions) == round(50 * outcome.time_s)
    assert np.allclose(states[0], BENCH_CELL.home_state)
    assert np.allclose(actions, recordings[0].astype(np.float32)[: len(actions)])
    assert [[tick for tick, _ in s.frames] for s in stretches] == [[0]] * len(stretches)
    assert set(stretches[0].frames[0][1]) == set(BENCH_CELL.policy_views)


def test_a_smooth_recording_has_further_frames_and_none_after_the_end(scene, engine, renderer, orders) -> None:
    kept = Kept(4)
    Evaluator(scene, engine, renderer, time_limit_s=0.42).run(Still(), orders[:1], kept)
    assert [[tick for tick, _ in s.frames] for s in kept.stretches[0]] == [[0, 4, 8], [0, 4, 8]]
    assert [len(s.states) for s in kept.stretches[0]] == [12, 9]


def test_every_policy_is_given_the_same_noise_and_every_moment_its_own(evaluate, orders) -> None:
    asked = []
    for _ in range(2):
        policy = Still()
        evaluate(policy, orders, time_limit_s=0.5)
        asked.append([seen.seed for seen in policy.seen])
    assert asked[0] == asked[1]
    assert len(set(asked[0])) == len(asked[0])


def test_red_light_reddens_what_is_seen(evaluate, orders) -> None:
    policy = Still()
    evaluate(policy, orders, time_limit_s=0.2)
    white, red = (policy.seen[i].images["head"].reshape(-1, 3).mean(0) for i in (0, 2))
    assert red[0] / red[2] > 1.5 * white[0] / white[2]


def test_an_answer_that_is_no_number_is_refused_in_words(evaluate, orders) -> None:
    class Broken(Still):
        def act(self, seen: Sequence[Seen]) -> np.ndarray:
            return super().act(seen) * np.nan

    with pytest.raises(DataError, match="not finite"):
        evaluate(Broken(), orders)


def test_a_target_far_outside_the_joints_is_refused_as_by_the_controller(evaluate, orders, engine) -> None:
    class Wild(Still):
        def act(self, seen: Sequence[Seen]) -> np.ndarray:
            return super().act(seen) + np.float32(50)

    evaluate(Still(), orders, time_limit_s=0.5)
    held = engine.positions().copy()
    evaluate(Wild(), orders, time_limit_s=0.5)
    assert np.allclose(engine.positions(), held, atol=1e-6)  # home as float32 and as float64
