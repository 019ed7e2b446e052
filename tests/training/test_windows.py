"""Windows stay inside their own episode."""

import numpy as np

from training.data.grid import grid_length, nearest_rows, to_grid
from training.data.windows import index_windows


def test_five_frames_give_five_windows_of_five_to_one_valid_steps() -> None:
    windows = index_windows([5], stride=1)
    _, is_valid = windows.future(np.arange(5), 40)
    assert is_valid.sum(1).tolist() == [5, 4, 3, 2, 1]


def test_windows_never_reach_into_another_episode() -> None:
    lengths = [7, 3, 90]
    windows = index_windows(lengths, stride=2)
    owner = np.repeat(np.arange(3), lengths)
    every = np.arange(len(windows))
    future, _ = windows.future(every, 40)
    assert (owner[future] == windows.episode[:, None]).all()
    assert (owner[windows.past(every, 20)] == windows.episode[:, None]).all()


def test_history_ends_at_the_window_and_repeats_the_first_sample() -> None:
    windows = index_windows([10, 10], stride=5)
    assert windows.past(np.array([2]), 4).tolist() == [[10, 10, 10, 10]]
    assert windows.past(np.array([3]), 4).tolist() == [[12, 13, 14, 15]]


def test_thirty_frames_a_second_become_fifty() -> None:
    seconds = np.arange(31)[:, None] / 30
    grid = to_grid(seconds, 30)
    assert len(grid) == grid_length(31, 30) == 51
    assert np.allclose(grid[:, 0], np.arange(51) / 50, atol=1e-6)


def test_fifty_a_second_is_left_as_it_is() -> None:
    x = np.random.default_rng(0).normal(size=(9, 2)).astype(np.float32)
    assert (to_grid(x, 50) == x).all()


def test_frame_nearest_in_time_stays_inside_the_episode() -> None:
    assert nearest_rows(np.array([0, 1, 2, 5, 500]), rows=31, fps=30).tolist() == [0, 1, 1, 3, 30]


def test_single_frame_is_one_tick() -> None:
    assert grid_length(1, 30) == 1
    assert to_grid(np.ones((1, 2)), 30).shape == (1, 2)
