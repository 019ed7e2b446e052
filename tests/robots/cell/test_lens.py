"""Projection of a fisheye against OpenCV's, and its inverse."""

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robots.cell.bench import WRIST_DISTORTION
from robots.cell.lens import Distortion, bent, project, straightened, tangents

FOCAL, CENTER = 250.0, np.array([160.0, 150.0])
small = st.floats(-0.015, 0.015)


def _points(count: int = 200) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.uniform([-0.6, -0.6, 0.1], [0.6, 0.6, 0.8], (count, 3))


@given(k=st.tuples(small, small, small, small))
def test_a_fisheye_projects_as_opencv_does(k: Distortion):
    K = np.array([[FOCAL, 0, CENTER[0]], [0, FOCAL, CENTER[1]], [0, 0, 1]])
    expected, _ = cv2.fisheye.projectPoints(_points()[None], np.zeros(3), np.zeros(3), K, np.array(k))
    np.testing.assert_allclose(project(_points(), FOCAL, CENTER, k), expected[0], atol=1e-6)


@given(k=st.tuples(small, small, small, small))
def test_an_angle_is_found_again(k: Distortion):
    theta = np.linspace(0.0, 1.0, 50)
    np.testing.assert_allclose(straightened(bent(theta, k), k), theta, atol=1e-9)


@pytest.mark.parametrize("k", [None, WRIST_DISTORTION])
def test_a_pixel_shows_the_ray_that_meets_it(k: Distortion | None):
    points = _points()
    rays = tangents(project(points, FOCAL, CENTER, k), FOCAL, CENTER, k)
    np.testing.assert_allclose(rays, points[:, :2] / points[:, 2:], atol=1e-6)


def test_behind_the_camera_there_are_rays_but_no_tangents():
    behind = project(np.array([0.3, 0.0, -0.1]), FOCAL, CENTER, WRIST_DISTORTION)
    assert behind[0] > CENTER[0] + FOCAL * 1.5
    assert np.isnan(tangents(behind, FOCAL, CENTER, WRIST_DISTORTION)).all()


def test_a_lens_that_bends_back_ends_in_a_circle():
    k = (-0.2, 0.0, 0.0, 0.0)
    edge = 1 / np.sqrt(0.6)  # where 1 - 3 * 0.2 theta^2 = 0
    assert np.isnan(straightened(np.array(bent(np.array(edge), k) + 1e-3), k))
    assert straightened(bent(np.array(edge - 0.05), k), k) == pytest.approx(edge - 0.05, abs=1e-6)
