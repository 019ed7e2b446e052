import threading
import time

import numpy as np
import pytest

from robots.agent.chunks import ChunkPlayer
from robots.agent.rollout import HISTORY, REPLAN_TICKS, AbortedError, Planner, run_rollout
from tests.robots.agent.conftest import ToyRig, make_order


class CountingPolicy:
    """Answers chunks that name the question they answer."""

    def __init__(self) -> None:
        self.states = []

    def infer(self, images, state, instruction):
        self.states.append(state.copy())
        return np.full((40, 3), len(self.states), np.float32), 7.0


def roll(rig: ToyRig, policy, *, time_limit_s: float = 2.0, aborted=lambda: "", on_tick=lambda seen, command: None):
    start = rig.prepare(make_order(), None)
    planner = Planner(policy, ("head",), "pick", ChunkPlayer(start.position, blend=0), rig.is_lockstep)
    return run_rollout(rig, planner, start, time_limit_s=time_limit_s, on_tick=on_tick, aborted=aborted)


def test_in_lockstep_the_policy_is_asked_every_twelve_ticks():
    policy = CountingPolicy()
    result = roll(ToyRig(length=30), policy)
    assert result.ticks == 30 and result.time_s == 0.6 and result.latency_ms == 7.0
    assert len(policy.states) == 3  # ticks 0, 12, 24
    assert REPLAN_TICKS == 12


def test_the_history_starts_full_and_moves_on():
    policy = CountingPolicy()
    roll(ToyRig(length=25), policy)
    assert all(state.shape == (HISTORY, 3) and state.dtype == np.float32 for state in policy.states)
    assert (policy.states[0] == 0).all()
    assert policy.states[1][-1].tolist() == [1, 1, 1]


def test_by_the_clock_the_old_chunk_plays_on_while_the_policy_thinks():
    """The second answer is asked for at tick 12 and comes at tick 20 or soon after."""
    policy, rig, may_answer = CountingPolicy(), ToyRig(length=100_000, is_lockstep=False), threading.Event()
    answer = policy.infer

    def think(images, state, instruction):
        assert not policy.states or may_answer.wait(60)
        return answer(images, state, instruction)

    def at_tick(tick: int) -> None:
        if tick >= 20:
            may_answer.set()
            time.sleep(0.001)

    policy.infer, rig.on_step = think, at_tick
    with pytest.raises(AbortedError, match="the new chunk plays"):
        roll(rig, policy, time_limit_s=2000, aborted=lambda: "the new chunk plays" if rig.position[0] == 2 else "")
    values = [command[0] for command in rig.commands]
    assert values[:21] == [1] * 21 and set(values) == {1, 2}


def test_time_is_up_at_the_limit():
    assert roll(ToyRig(length=1000), CountingPolicy(), time_limit_s=0.5).ticks == 25


def test_a_reason_from_outside_ends_the_rollout():
    rig = ToyRig(length=1000)
    with pytest.raises(AbortedError, match="enough"):
        roll(rig, CountingPolicy(), aborted=lambda: "enough" if rig.ticks >= 5 else "")
    assert rig.ticks == 5
