"""Measure a cell into a grounded world: `OUT/world.json` with `OUT/residuals.json`.

A first, simple registration. Everything comes through the drivers and a person's hands; the truth of a bench cell stays
out of reach. Measured: lens and pose of head and wrist cameras; belt and bins; gains and delay of arm and hand.
Shared with the ungrounded world, as not measured here: masses and sizes (CAD), contact parameters, light, image blur.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from generation.arrays import Array
from generation.config import RegisterConfig
from generation.world.bundle import CalibrationError
from generation.world.cameras import CameraFit, CameraStart, calibrate
from generation.world.collect import Collector
from generation.world.excitation import excitation
from generation.world.identification import DynamicsFit, identify_dynamics
from generation.world.layout import LayoutFit, marks, register_layout
from robots.cell.description import CameraDescription
from robots.cell.world import (
    CameraParameters,
    VisualParameters,
    WorldParameters,
    camera_parameters,
    camera_pose,
)
from robots.config import save_config, write_json
from robots.drivers.bench import BenchCell
from robots.drivers.bench.board import CORNERS, corner_points
from robots.errors import DataError
from robots.perception.points import world_points
from robots.perception.sighting import NothingSeenError
from robots.progress import Progress

_OTHER = {"pinhole": "fisheye", "fisheye": "pinhole"}
EXTERNAL = CameraParameters()  # the RGB-D camera was registered to the bases when the cell was built


def register(config: RegisterConfig, out: Path, progress: Progress) -> dict[str, Any]:
    """Measure the bench cell of `config.bench_seed`.

    Returns:
        The residuals, as in residuals.json.

    Raises:
        DataError: a camera cannot be calibrated, or belt or bins are not seen.
    """
    out.mkdir(parents=True, exist_ok=True)
    save_config(config, out / "config.json")
    with BenchCell.start(seed=config.bench_seed) as bench:
        collector = Collector(bench.cell, bench.drivers, bench.operator)
        try:
            world, residuals = measure(collector, config, progress)
        except (CalibrationError, NothingSeenError) as error:
            raise DataError(f"the cell cannot be registered: {error}") from error
    write_json(out / "world.json", json.loads(world.to_json()))
    write_json(out / "residuals.json", residuals)
    progress.artifact("world.json", "result")
    return residuals


def measure(collector: Collector, config: RegisterConfig, progress: Progress) -> tuple[WorldParameters, dict[str, Any]]:
    """All parts of the grounded world and what is left over, in five steps."""
    cell, rng = collector.cell, np.random.default_rng(config.seed)
    views = [camera for camera in cell.cameras if camera.is_policy_view]
    total = len(views) + 2
    fits: dict[str, CameraFit] = {}
    parameters: dict[str, CameraParameters] = {"external": EXTERNAL}
    for done, camera in enumerate(views):
        progress.progress(done, total, "steps")
        fits[camera.name], parameters[camera.name] = _camera(collector, camera, config.board_views, rng)
    progress.progress(len(views), total, "steps")
    layout = _layout(collector)
    progress.progress(len(views) + 1, total, "steps")
    dynamics = identify_dynamics(
        cell,
        collector.joints(excitation(cell, config.excitation_s, rng)),
        collector.joints(excitation(cell, config.holdout_s, rng)),
    )
    progress.progress(total, total, "steps")
    world = WorldParameters(
        VisualParameters(cameras=parameters, grounded=True), layout.parameters, dynamics.parameters, cell.name
    )
    return world, _residuals(fits, layout, dynamics)


def _camera(
    collector: Collector, camera: CameraDescription, count: int, rng: np.random.Generator
) -> tuple[CameraFit, CameraParameters]:
    views, images = collector.board(camera, corner_points(), CORNERS, count, rng)
    home = np.array(collector.cell.q_home)
    # the wrist camera's pose is sought in its parent, which moves; the others' in the world, where their parents stand
    T_world_parent = np.eye(4) if camera.parent == "right_wrist" else collector.parent(camera, home)
    C = T_world_parent @ camera_pose(camera, CameraParameters())
    start = CameraStart((camera.width, camera.height), camera.focal_px, C, camera.distortion)
    try:
        fit = calibrate(views, corner_points(), start, images)
    except CalibrationError as error:
        raise CalibrationError(f"camera {camera.name}: {error}") from error
    pose: Array = np.linalg.inv(T_world_parent) @ fit.T_parent_camera
    return fit, camera_parameters(camera, pose, fit.focal_px, fit.distortion)


def _layout(collector: Collector) -> LayoutFit:
    cell = collector.cell
    placed = marks(cell)
    seen = collector.objects(placed, EXTERNAL)
    points = world_points(collector.depth(), cell.camera("external"), EXTERNAL)
    return register_layout(cell, placed, seen, points)


def _residuals(cameras: dict[str, CameraFit], layout: LayoutFit, dynamics: DynamicsFit) -> dict[str, Any]:
    """Numbers for people and pages, in px, mm and degrees."""
    return {
        "cameras": {
            name: {
                "lens": fit.lens,
                "focal_px": fit.focal_px,
                "distortion": None if fit.distortion is None else fit.distortion.tolist(),
                "reprojection_px": fit.rms_px,
                "leave_one_out_px": fit.leave_one_out_px,
                "as_described_px": fit.nominal_px,
                f"as_{_OTHER[fit.lens]}_px": fit.other_lens_px,
                "boards_found": fit.found,
                "images": fit.images,
            }
            for name, fit in cameras.items()
        },
        "layout": {"belt_spread_mm": layout.belt_spread_mm, "sightings": layout.sightings},
        "dynamics": {
            "held_out_tcp_rms_mm": dynamics.tcp_rms_mm,
            "held_out_tcp_rms_deg": dynamics.tcp_rms_deg,
            "as_described_tcp_rms_mm": dynamics.nominal_tcp_rms_mm,
            "held_out_fingertip_rms_mm": dynamics.fingertip_rms_mm,
            "delay_ms": 1e3 * dynamics.parameters.delay,
        },
    }
