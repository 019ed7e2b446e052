"""Frame timing, the watchdog, and the renderer itself."""

from dataclasses import replace

import numpy as np
import pytest

from generation.rendering import MujocoRenderer, RenderFaultError, check_frames, frame_ticks
from robots.cell.bench import BENCH_CELL
from robots.cell.initial import sample_appearance, sample_initial_state
from robots.cell.rendering import CellRenderer
from robots.cell.scene import Scene


@pytest.mark.parametrize(("fps", "expected"), [(50, 20), (25, 10), (12.5, 5), (10, 4), (30, 12)])
def test_a_row_holds_the_newest_frame_of_a_slower_camera(fps: float, expected: int) -> None:
    taken, newest = frame_ticks(20, fps)
    assert len(taken) == expected
    assert (taken[newest] <= np.arange(20)).all()
    assert (np.arange(20) - taken[newest] < 50 / fps).all()


def _frames(count: int = 20) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 255, (count, 16, 16, 3), dtype=np.uint8)


def test_good_frames_pass() -> None:
    check_frames({"head": _frames(), "wrist": np.repeat(_frames(1), 20, axis=0)}, np.ones(19, bool))


def test_a_black_frame_is_a_fault() -> None:
    frames = _frames()
    frames[7] = 0
    with pytest.raises(RenderFaultError, match="view head, frame 7 is black"):
        check_frames({"head": frames}, np.ones(19, bool))


def test_a_frame_of_one_colour_is_a_fault() -> None:
    frames = _frames()
    frames[3] = 128
    with pytest.raises(RenderFaultError, match="frame 3 is of one colour"):
        check_frames({"head": frames}, np.ones(19, bool))


def test_views_frozen_together_are_a_fault_unless_nothing_moves() -> None:
    frames = _frames()
    frames[5:16] = frames[5]
    with pytest.raises(RenderFaultError, match="stand still from frame 5"):
        check_frames({"head": frames, "wrist": frames}, np.ones(19, bool))
    check_frames({"head": frames, "wrist": frames}, np.zeros(19, bool))
    check_frames({"head": frames, "wrist": _frames()}, np.ones(19, bool))


def test_leaving_out_what_is_out_of_sight_changes_no_pixel(scene: Scene) -> None:
    rng = np.random.default_rng(1)
    initial = sample_initial_state(BENCH_CELL, rng, objects=("can",))
    scene.reset(initial)
    qpos = np.tile(scene.data.qpos, (3, 1))
    qpos[:, :7] += np.linspace(0, 0.4, 3)[:, None]
    renderer = MujocoRenderer(scene, 64)
    frames = renderer.render(initial, qpos)
    renderer.close()
    with CellRenderer(scene.model, 64, scene.cell, scene.world) as plain:
        scene.reset(initial)
        for view in BENCH_CELL.policy_views:
            np.testing.assert_array_equal(frames[view][0], plain.render(scene.data, view))


def test_appearance_is_part_of_the_start_and_changes_the_picture(scene: Scene) -> None:
    rng = np.random.default_rng(2)
    initial = sample_initial_state(BENCH_CELL, rng, objects=("can",))
    varied = replace(initial, appearance=sample_appearance(BENCH_CELL.object("can"), rng))
    renderer = MujocoRenderer(scene, 64)
    scene.reset(initial)
    qpos = scene.data.qpos[None].copy()
    plain, other = renderer.render(initial, qpos), renderer.render(varied, qpos)
    again = renderer.render(initial, qpos)
    renderer.close()
    assert np.abs(plain["head"].astype(int) - other["head"]).mean() > 1
    np.testing.assert_array_equal(plain["head"], again["head"])
