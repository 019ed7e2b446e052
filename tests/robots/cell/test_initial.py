"""Starts of episodes and conditions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robots.cell.bench import BENCH_CELL
from robots.cell.initial import (
    Appearance,
    Conditions,
    InitialState,
    instruction,
    sample_appearance,
    sample_initial_state,
)


@given(seed=st.integers(0, 2**32 - 1))
def test_a_sampled_start_lies_on_the_belt_and_reaches_the_pick_in_time(seed):
    start = sample_initial_state(BENCH_CELL, np.random.default_rng(seed))
    assert abs(start.position[0]) < BENCH_CELL.belt.half_width
    assert abs(start.position[1]) < BENCH_CELL.belt.half_length
    assert start.object in BENCH_CELL.demonstrated_objects
    travel = start.position[1] + BENCH_CELL.belt.center[1] - BENCH_CELL.pick_y
    assert 2.0 * start.belt_speed - 0.051 <= travel <= 2.6 * start.belt_speed + 0.051


def test_the_same_generator_gives_the_same_start():
    one, two = (sample_initial_state(BENCH_CELL, np.random.default_rng(5)) for _ in range(2))
    assert one == two


def test_a_start_survives_json():
    start = sample_initial_state(BENCH_CELL, np.random.default_rng(0), raise_belt=True)
    start = InitialState(**{**vars(start), "appearance": Appearance(object_color=(0.1, 0.2, 0.3))})
    assert InitialState.from_dict(start.to_dict()) == start


@pytest.mark.parametrize(
    "change", [{"bin": "up"}, {"belt_speed": -1.0}, {"yaw": float("nan")}, {"position": (1.0, 2.0)}]
)
def test_an_impossible_start_is_refused(change):
    with pytest.raises(ValueError, match="initial"):
        InitialState(**{"object": "box", "position": (0.0, 0.0, 0.03), **change})


def test_an_unknown_field_is_refused():
    with pytest.raises(ValueError, match="colour"):
        InitialState.from_dict({"object": "box", "position": [0, 0, 0], "colour": 1})


def test_conditions_know_two_lights():
    with pytest.raises(ValueError, match="white"):
        Conditions(light="green")


def test_the_bin_is_in_the_instruction():
    assert instruction("can", "left") == "pick up the can and place it in the left bin"


def test_no_randomisation_changes_nothing():
    box = BENCH_CELL.object("box")
    look = sample_appearance(box, np.random.default_rng(0), strength=0.0)
    assert look.object_color == pytest.approx(box.color[:3])
    assert look.light_color == (1.0, 1.0, 1.0)
