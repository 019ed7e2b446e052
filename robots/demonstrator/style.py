"""How one demonstration differs from the next: timing, height, bow of the path, tremor, occasional correction. Pure."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
CORRECTION_RATE = 0.25


@dataclass(frozen=True)
class Style:
    """One person's way on one day. Times [s], lengths [m], angles [rad].

    Attributes:
        reaction: rest before the hand moves. hover: height above the grasp before the descent.
        descend, close, hold, lift, carry, lower, release, retreat: durations of the segments.
        pick_shift: where along the belt the object is met, relative to the usual place.
        bow: sideways bow of the reach (x, y). carry_rise: extra height in the middle of the carry.
        yaw_error: of the grasp. squeeze: see `handshapes.closed`.
        correction: first reach misses by this (x, y) and is corrected; None for a clean reach.
        tremor: amplitudes (3, n), frequencies (n,) [Hz] and phases (3, n) of the physiological tremor.
    """

    reaction: float
    hover: float
    descend: float
    close: float
    hold: float
    lift: float
    carry: float
    lower: float
    release: float
    retreat: float
    pick_shift: float
    bow: tuple[float, float]
    carry_rise: float
    yaw_error: float
    squeeze: float
    correction: tuple[float, float] | None
    tremor: tuple[Array, Array, Array]

    def tremble(self, t: float) -> Array:
        """Offset of the hand from its intended position at time t, (3,) [m]."""
        amplitude, frequency, phase = self.tremor
        return (amplitude * np.sin(2 * math.pi * frequency * t + phase)).sum(axis=1)


def sample_style(rng: np.random.Generator) -> Style:
    """Draw a style; tremor has 4 to 9 Hz components of about 0.2 mm and a slow sway of about 1 mm."""
    frequency = np.array([rng.uniform(0.3, 0.6), rng.uniform(4, 6), rng.uniform(7, 9)])
    amplitude = np.abs(rng.normal(0, 1, (3, 3))) * np.array([0.0010, 0.0002, 0.0001])
    correction = None
    if rng.random() < CORRECTION_RATE:
        angle, size = rng.uniform(-math.pi, math.pi), rng.uniform(0.015, 0.030)
        correction = (size * math.cos(angle), size * math.sin(angle))
    return Style(
        reaction=float(np.clip(rng.lognormal(math.log(0.25), 0.2), 0.15, 0.45)),
        hover=rng.uniform(0.08, 0.12),
        descend=rng.uniform(0.52, 0.70),
        close=rng.uniform(0.26, 0.36),
        hold=rng.uniform(0.10, 0.18),
        lift=rng.uniform(0.62, 0.80),
        carry=rng.uniform(1.5, 1.8),
        lower=rng.uniform(0.42, 0.55),
        release=rng.uniform(0.22, 0.30),
        retreat=rng.uniform(0.65, 0.80),
        pick_shift=rng.uniform(-0.03, 0.03),
        bow=(rng.normal(0, 0.012), rng.normal(0, 0.015)),
        carry_rise=rng.uniform(0.0, 0.03),
        yaw_error=rng.normal(0, math.radians(2.0)),
        squeeze=rng.uniform(1.5, 1.75),
        correction=correction,
        tremor=(amplitude, frequency, rng.uniform(-math.pi, math.pi, (3, 3))),
    )
