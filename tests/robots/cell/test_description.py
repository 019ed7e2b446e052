"""The cell's description and what is derived from it."""

import numpy as np
import pytest

from robots.cell import handshapes
from robots.cell.bench import BENCH_CELL
from robots.cell.description import CameraDescription, ObjectDescription


def test_the_vector_has_54_distinct_names_right_side_first():
    names = BENCH_CELL.joint_names
    assert len(set(names)) == len(names) == 54
    assert names[0] == "right_arm_joint1"
    assert names[7] == "right_hand_thumb_S1"
    assert names[27] == "left_arm_joint1"
    assert BENCH_CELL.home_state.shape == (54,)


def test_there_are_three_policy_views_and_a_depth_camera():
    assert BENCH_CELL.policy_views == ("head", "right_wrist", "left_wrist")
    assert BENCH_CELL.camera("external").has_depth


def test_novel_objects_are_kept_apart_from_demonstrated_ones():
    assert len(BENCH_CELL.novel_objects) >= 2
    assert not set(BENCH_CELL.novel_objects) & set(BENCH_CELL.demonstrated_objects)


def test_a_wrong_name_is_answered_with_the_legal_ones():
    with pytest.raises(KeyError, match="box, can, bottle"):
        BENCH_CELL.object("spoon")
    with pytest.raises(KeyError, match="'left' and 'right'"):
        BENCH_CELL.bin("middle")


@pytest.mark.parametrize("size", [(0.1, 0.1), (0.1, 0.1, -0.1)])
def test_an_object_with_impossible_sizes_is_refused(size: tuple[float, ...]):
    with pytest.raises(ValueError, match="3 positive half sizes"):
        ObjectDescription("x", "box", size, 0.1, (1, 1, 1, 1))


def test_a_camera_without_focal_length_is_refused():
    with pytest.raises(ValueError, match="camera c"):
        CameraDescription("c", "world", (0, 0, 1), (0, 1, 0), 0.0, 10, 10)


def test_a_fisheye_with_depth_is_refused():
    with pytest.raises(ValueError, match="camera c: a fisheye has no depth"):
        CameraDescription("c", "world", (0, 0, 1), (0, 1, 0), 9.0, 10, 10, has_depth=True, distortion=(0.1, 0, 0, 0))


def test_the_wrist_cameras_are_fisheyes_and_the_others_are_not():
    assert {c.name for c in BENCH_CELL.cameras if c.distortion} == {"right_wrist", "left_wrist"}


def test_inertia_of_a_ball_is_that_of_a_solid_sphere():
    ball = BENCH_CELL.object("ball")
    assert ball.inertia_per_mass == pytest.approx((0.4 * 0.0225**2,) * 3)


def test_closing_is_read_back_from_a_hand_shape():
    for closing in (0.0, 0.3, 1.0):
        assert handshapes.closing_of(handshapes.blend(closing)) == pytest.approx(closing)


def test_a_closed_hand_stays_within_an_open_hands_reach():
    assert np.abs(handshapes.closed() - handshapes.OPEN).max() < 1.7
