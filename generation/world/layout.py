"""Register belt and bins from what the external RGB-D camera sees. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from generation.arrays import Array
from robots.cell.description import BinDescription, CellDescription
from robots.cell.initial import InitialState
from robots.cell.world import LayoutParameters
from robots.perception.sighting import NothingSeenError, ObjectSighting

MIN_SIGHTINGS = 3
SEARCH, STEP = 0.03, 0.001  # around a bin's described place [m]
WALL = 0.004  # half thickness of a bin's wall [m]
RIM_BAND = 0.006  # points so near the rim's height belong to it [m]


@dataclass(frozen=True)
class LayoutFit:
    """A registered layout; the residual is the spread of the single object sightings about their mean."""

    parameters: LayoutParameters
    belt_spread_mm: float
    sightings: int


def marks(cell: CellDescription) -> list[InitialState]:
    """Where a person lays objects on the standing belt, measured from the belt itself."""
    along = cell.pick_y - cell.belt.center[1]
    return [
        InitialState(name, (x, along + y, cell.object(name).half_height), belt_speed=0.0)
        for name in ("can", "box")
        for x, y in ((-0.03, 0.10), (0.0, 0.20), (0.03, 0.30), (0.0, 0.35))
    ]


def register_layout(
    cell: CellDescription, placed: Sequence[InitialState], seen: Sequence[ObjectSighting | None], points: Array
) -> LayoutFit:
    """Offsets of the belt (from objects at known marks on it) and of both bins (from their rims).

    Args:
        points: (H, W, 3) world points of one depth image of the empty cell [m].

    Raises:
        NothingSeenError: too few objects or too few points of a rim.
    """
    offsets = [
        sighting.position - np.array(cell.belt.center) - initial.position
        for initial, sighting in zip(placed, seen, strict=True)
        if sighting is not None
    ]
    if len(offsets) < MIN_SIGHTINGS:
        raise NothingSeenError(
            f"{len(offsets)} of {len(placed)} objects on the belt were seen, needed are {MIN_SIGHTINGS}"
        )
    belt = np.median(offsets, axis=0)
    left, right = (bin_offset(points, cell.bin(side)) for side in ("left", "right"))
    parameters = LayoutParameters(_tuple(belt), (left[0], left[1]), (right[0], right[1]), grounded=True)
    spread = float(1e3 * np.sqrt(((np.array(offsets) - belt) ** 2).sum(1).mean()))
    return LayoutFit(parameters, spread, len(offsets))


def bin_offset(points: Array, bin_: BinDescription) -> tuple[float, float]:
    """Shift (x, y) [m] of a bin of known size from its described place: where its rim covers most points.

    Raises:
        NothingSeenError: hardly any point lies at the rim's height.
    """
    reach = np.array(bin_.half_extents) + SEARCH + WALL
    flat = points.reshape(-1, 3)
    local = flat[np.abs(flat[:, 2] - bin_.height) < RIM_BAND][:, :2] - bin_.center
    local = local[(np.abs(local) < reach).all(1)]
    if len(local) < 50:
        raise NothingSeenError(
            f"{len(local)} depth points at the rim of the bin at {bin_.center}: not enough to place it"
        )
    shifts = np.arange(-SEARCH, SEARCH + STEP / 2, STEP)
    score = np.array([[_on_rim(local - (dx, dy), bin_).sum() for dy in shifts] for dx in shifts], float)
    score = gaussian_filter(score, 1.0)
    x, y = (float(shifts @ _peak(score, axis)) for axis in (0, 1))
    return x, y


def _on_rim(local: Array, bin_: BinDescription) -> NDArray[np.bool_]:
    beyond = np.abs(local) - np.array(bin_.half_extents)
    return (np.abs(beyond) < WALL).any(1) & (beyond < WALL).all(1)


def _peak(score: Array, axis: int) -> Array:
    """Weights of the shifts along one axis: the neighbourhood of the maximum, for a fraction of a step."""
    best = np.unravel_index(int(score.argmax()), score.shape)
    line = score[:, best[1]] if axis == 0 else score[best[0], :]
    weights = np.maximum(line - 0.85 * line.max(), 0)
    near = np.abs(np.arange(len(line)) - best[axis]) <= 6
    weights = weights * near
    return weights / weights.sum()


def _tuple(values: Array) -> tuple[float, float, float]:
    x, y, z = (float(v) for v in values)
    return x, y, z
