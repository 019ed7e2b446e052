import numpy as np
import pytest

from robots.agent.chunks import ChunkPlayer


def ramp(start: float, rows: int = 40) -> np.ndarray:
    return (start + np.arange(rows, dtype=float))[:, None] * np.ones(2)


def test_before_the_first_chunk_the_robot_holds():
    assert ChunkPlayer(hold=np.array([1.0, 2.0])).command(5).tolist() == [1.0, 2.0]


def test_a_chunk_plays_row_by_row_and_its_last_row_is_held():
    player = ChunkPlayer(hold=np.zeros(2), blend=0)
    player.submit(0, ramp(100, rows=3), now=0)
    assert [player.command(t)[0] for t in range(5)] == [100, 101, 102, 102, 102]


def test_a_late_chunk_skips_what_the_robot_has_lived_through():
    player = ChunkPlayer(hold=np.zeros(2), blend=0)
    player.submit(12, ramp(0), now=15)
    assert player.command(15)[0] == 3


def test_a_hand_over_never_jumps():
    player = ChunkPlayer(hold=np.zeros(2), blend=3)
    player.submit(0, np.zeros((40, 2)), now=0)
    player.submit(12, np.ones((40, 2)), now=12)
    values = [player.command(t)[0] for t in range(11, 17)]
    assert values == pytest.approx([0.25 * 0, 0.25, 0.5, 0.75, 1.0, 1.0], abs=0.26)
    assert np.abs(np.diff(values)).max() <= 0.2501


@pytest.mark.parametrize("actions", [np.zeros((0, 2)), np.zeros((4, 3)), np.full((4, 2), np.nan), np.zeros(2)])
def test_a_chunk_that_cannot_be_played_is_refused(actions):
    with pytest.raises(ValueError, match="chunk"):
        ChunkPlayer(hold=np.zeros(2)).submit(0, actions, now=0)
