"""What the simulations share: rates that are drawn anew for each study, and figures that are printed and judged."""

import numpy as np

STUDIES, FEW = 40_000, 4_000
PAPER_STRATA = [24, 9, 8, 8, 1]  # nominal, red light, faster belt, novel objects, one trial with all of them
CELLS = [[10], [24], [26], [50], [24, 26], PAPER_STRATA, [5, 5], [5] * 5]  # trials of a cell in each stratum


def generator() -> np.random.Generator:
    return np.random.default_rng(20260930)


def rates(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.uniform(0.1, 0.9, shape)


def covered(low, high, truth) -> float:
    return float(np.mean((low <= truth + 1e-12) & (truth - 1e-12 <= high)))


def report(name: str, value: float) -> float:
    print(f"{name}: {100 * value:.2f} %")
    return value


def assert_covers(name: str, value: float, confidence: float = 0.95) -> None:
    """Within a point and a half of what it says."""
    assert abs(report(f"coverage, {name}", value) - confidence) <= 0.015, name


def assert_covers_at_least(name: str, value: float) -> None:
    """Exact intervals, and some others with few trials, may cover more: pages, command line and README say so."""
    assert report(f"coverage (may cover more), {name}", value) >= 0.945, name


def assert_keeps_level(name: str, value: float) -> None:
    assert report(f"type I error, {name}", value) <= 0.055, name
