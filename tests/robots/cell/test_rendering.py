"""Images of the scene."""

import numpy as np
import pytest

from robots.cell.bench import BENCH_CELL
from robots.cell.initial import Appearance, InitialState
from robots.cell.rendering import CellRenderer, blurred
from robots.cell.scene import Scene
from robots.cell.world import CameraParameters, VisualParameters, camera_pose, intrinsics, nominal_world


def is_red(image: np.ndarray) -> np.ndarray:
    """Pixels of the red box, not of the orange bin."""
    r, g, b = np.moveaxis(image, -1, 0)
    return (r > 50) & (r > 2 * g) & (np.abs(g - b) < 0.15 * r)


@pytest.fixture(scope="module")
def scene() -> Scene:
    scene = Scene(BENCH_CELL, nominal_world(BENCH_CELL), ("box",))
    scene.reset(InitialState("box", (0.0, 0.25, 0.03), belt_speed=0.0))
    return scene


@pytest.fixture(scope="module")
def renderer(scene):
    with CellRenderer(scene.model, 128, BENCH_CELL, nominal_world(BENCH_CELL)) as renderer:
        yield renderer


def test_every_policy_view_shows_something_of_its_own(scene, renderer):
    images = [renderer.render(scene.data, view) for view in BENCH_CELL.policy_views]
    assert all(image.shape == (128, 128, 3) and image.std() > 10 for image in images)
    assert np.abs(images[0].astype(int) - images[1]).mean() > 5


def test_the_object_appears_where_the_camera_model_projects_it(scene, renderer):
    for view in ("head", "external"):
        camera = BENCH_CELL.camera(view)
        image = renderer.render(scene.data, view).astype(int)
        rows, columns = np.nonzero(is_red(image))
        T = camera_pose(camera, CameraParameters())
        p = intrinsics(camera, CameraParameters(), 128, 128) @ (T[:3, :3].T @ (scene.object_pose()[0] - T[:3, 3]))
        assert abs(columns.mean() + 0.5 - p[0] / p[2]) < 1.5
        assert abs(rows.mean() + 0.5 - p[1] / p[2]) < 1.5


def test_red_light_reddens_the_image(scene, renderer):
    white = renderer.render(scene.data, "head").mean(axis=(0, 1))
    scene.set_appearance(Appearance(light_color=(1.0, 0.35, 0.3)))
    red = renderer.render(scene.data, "head").mean(axis=(0, 1))
    scene.set_appearance(Appearance())
    assert red[1] / red[0] < 0.6 * white[1] / white[0]


def test_a_longer_focal_length_enlarges_the_object():
    seen = []
    for scale in (1.0, 1.1):
        visual = VisualParameters({"external": CameraParameters(focal_scale=scale)})
        world = nominal_world(BENCH_CELL).with_part(visual)
        scene = Scene(BENCH_CELL, world, ("box",))
        scene.reset(InitialState("box", (0.0, 0.2, 0.03), belt_speed=0.0))
        with CellRenderer(scene.model, (240, 320), BENCH_CELL, world) as renderer:
            image = renderer.render(scene.data, "external").astype(int)
        seen.append(is_red(image).sum())
    assert seen[1] / seen[0] == pytest.approx(1.21, rel=0.12)


def test_depth_is_metres_along_the_axis(scene, renderer):
    depth = renderer.render_depth(scene.data, "external")
    assert 0.5 < depth.min() < depth.max() < 5.0


def test_blur_keeps_the_mean_and_lowers_the_contrast():
    image = np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)
    soft = blurred(image, 1.5)
    assert soft.mean() == pytest.approx(image.mean(), abs=2)
    assert soft.std() < 0.5 * image.std()
    assert np.array_equal(blurred(image, 0.0), image)
