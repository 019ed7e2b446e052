"""One affine map per dimension, shared by training and serving."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

CONSTANT_RANGE = 1e-6


@dataclass(frozen=True)
class Affine:
    """`z = (x - mean) / scale`, where a dimension that never moves has `scale` 0 and `z` exactly 0.

    Attributes:
        mean: centre of each dimension, also the value restored for a constant one (D,), or one per tick (T, D).
        scale: width of each dimension, 0 for a constant one; same shape.
    """

    mean: np.ndarray
    scale: np.ndarray

    def __post_init__(self) -> None:
        if self.mean.shape != self.scale.shape or self.mean.ndim not in (1, 2):
            raise ValueError(f"mean {self.mean.shape} and scale {self.scale.shape} must have one shape, (D,) or (T, D)")
        is_finite = np.atleast_2d(np.isfinite(self.mean) & np.isfinite(self.scale)).all(0)
        if not is_finite.all():
            bad = np.flatnonzero(~is_finite).tolist()
            raise ValueError(f"normalisation is not finite in dimensions {bad}; check the data for NaN or Inf")

    @property
    def is_constant(self) -> np.ndarray:
        """Which dimensions never move, in the shape of `scale`."""
        return self.scale == 0

    def normalise(self, x: np.ndarray) -> np.ndarray:
        """Map values to about unit width (..., D)."""
        scale = np.where(self.is_constant, 1.0, self.scale)
        return np.where(self.is_constant, 0.0, (x - self.mean) / scale).astype(np.float32)

    def restore(self, z: np.ndarray) -> np.ndarray:
        """Map normalised values back; a constant dimension gives its constant whatever `z` is (..., D)."""
        return (z * self.scale + self.mean).astype(np.float32)

    def to_json(self) -> dict[str, Any]:
        """Plain lists, exact in float64."""
        return {"mean": self.mean.tolist(), "scale": self.scale.tolist()}

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Affine:
        """Inverse of `to_json`."""
        return cls(np.asarray(raw["mean"], np.float64), np.asarray(raw["scale"], np.float64))


def fit_affine(x: np.ndarray, floor: float = 0.0, still: np.ndarray | None = None) -> Affine:
    """Fit mean and standard deviation per dimension.

    Args:
        x: samples (N, D), all finite.
        floor: added to the standard deviation of moving dimensions, in the data's unit: keeps noise of
            a nearly still joint from being blown up to unit width.
        still: dimensions to treat as constant besides those whose range is below `CONSTANT_RANGE` (D,).

    Raises:
        ValueError: when there is no sample or a value is not finite.
    """
    if len(x) == 0:
        raise ValueError("cannot fit a normalisation to no samples")
    x = x.astype(np.float64)
    constant = np.ptp(x, axis=0) < CONSTANT_RANGE
    mean = np.where(constant, x[0], x.mean(0))
    if still is not None:
        constant = constant | still
    return Affine(mean, np.where(constant, 0.0, x.std(0) + floor))


def fit_affine_by_tick(x: np.ndarray, is_valid: np.ndarray, floor: float = 0.0) -> Affine:
    """Fit each tick of a chunk on its own, so that the small near future gets the same resolution as the far one.

    Args:
        x: chunks (N, T, D).
        is_valid: ticks inside the episode (N, T); a tick that no chunk reaches takes the fit of the one before.
        floor: see `fit_affine`.
    """
    fits: list[Affine] = []
    for t in range(x.shape[1]):
        rows = x[is_valid[:, t], t]
        fits.append(fit_affine(rows, floor) if len(rows) or not fits else fits[-1])
    return Affine(np.stack([f.mean for f in fits]), np.stack([f.scale for f in fits]))
