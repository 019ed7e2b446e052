"""A 2 x 2 factorial of success rates: main effects and interaction in points, stratified, with intervals.

An effect is a contrast of the cell means. Within each stratum (a condition) every cell has its own rate; strata are
averaged with one set of weights for all four cells, so an arm that happened to run more easy trials gains nothing.
Intervals are those of `contrasts` on each cell's effective counts.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labapp.statistics.contrasts import Contrast, contrast
from labapp.statistics.counts import DEFAULT_CONFIDENCE, Count
from labapp.statistics.strata import effective_counts

# Cells in the order (high, high), (high, low), (low, high), (low, low) of factors A, B: GG, GU, UG, UU in the study.
CELLS = ((True, True), (True, False), (False, True), (False, False))
MAIN_A = np.array([0.5, 0.5, -0.5, -0.5])
MAIN_B = np.array([0.5, -0.5, 0.5, -0.5])
INTERACTION = np.array([1.0, -1.0, -1.0, 1.0])  # difference of differences; half of it is the "half-interaction"
BOTH = np.array([1.0, 0.0, 0.0, -1.0])  # high/high minus low/low = the sum of the main effects
CONTRASTS = {
    "main_a": MAIN_A,
    "main_b": MAIN_B,
    "interaction": INTERACTION,
    "both": BOTH,
    "a_at_high_b": np.array([1.0, 0.0, -1.0, 0.0]),
    "a_at_low_b": np.array([0.0, 1.0, 0.0, -1.0]),
    "b_at_high_a": np.array([1.0, -1.0, 0.0, 0.0]),
    "b_at_low_a": np.array([0.0, 0.0, 1.0, -1.0]),
}

EFFECTS: Mapping[str, NDArray[np.float64]] = {"main_a": MAIN_A, "main_b": MAIN_B, "interaction": INTERACTION}

Table = Mapping[str, Sequence[Count]]  # stratum -> four counts in the order of CELLS


class Factorial(NamedTuple):
    """Effects by the names of CONTRASTS (None: not estimable), the strata used and those left out for empty cells."""

    effects: dict[str, Contrast | None]
    weights: dict[str, float]
    left_out: tuple[str, ...]

    @property
    def half_interaction(self) -> float | None:
        """Half the difference of differences, on the scale of a main effect."""
        interaction = self.effects["interaction"]
        return interaction.estimate / 2 if interaction else None


def stratum_weights(table: Table, weighting: str = "size") -> dict[str, float]:
    """Weight of each usable stratum: by its share of all trials ("size") or the same for each ("equal").

    Raises:
        ValueError: on another weighting.
    """
    if weighting not in ("size", "equal"):
        raise ValueError(f"unknown weighting {weighting!r}: size or equal")
    sizes = {name: sum(cell.trials for cell in cells) if weighting == "size" else 1 for name, cells in table.items()}
    total = sum(sizes.values())
    return {name: size / total for name, size in sizes.items()} if total else {}


def factorial(table: Table, confidence: float = DEFAULT_CONFIDENCE, weighting: str = "size") -> Factorial:
    """Effects of a 2 x 2 table of counts per stratum.

    A stratum counts for an effect only where all cells of that effect have trials in it; where some have none, it is
    left out and named. Without any empty cell every effect uses every stratum.

    Raises:
        ValueError: where a stratum has other than four counts.
    """
    for name, cells in table.items():
        if len(cells) != len(CELLS):
            raise ValueError(f"stratum {name!r} has {len(cells)} cells; a 2 x 2 design has {len(CELLS)}")
    left_out: dict[str, None] = {}
    effects = {}
    for effect, coefficients in CONTRASTS.items():
        usable = {name: cells for name, cells in table.items() if _complete(cells, coefficients)}
        effects[effect] = stratified_contrast(usable, coefficients, confidence, weighting)
        if effect in ("main_a", "main_b", "interaction"):
            left_out |= dict.fromkeys(name for name in table if name not in usable)
    complete = {name: cells for name, cells in table.items() if name not in left_out}
    return Factorial(effects, stratum_weights(complete, weighting), tuple(left_out))


def stratified_contrast(
    table: Table, coefficients: NDArray[np.float64], confidence: float, weighting: str = "size"
) -> Contrast | None:
    """One contrast of the four cells averaged over strata; None where no stratum is usable."""
    weights = stratum_weights(table, weighting)
    if not weights:
        return None
    k = np.array([[cell.successes for cell in cells] for cells in table.values()])
    n = np.array([[cell.trials for cell in cells] for cells in table.values()])
    return contrast(coefficients, *effective_counts(k, n, [weights[name] for name in table]), confidence)


def pooled(table: Table) -> dict[str, list[Count]]:
    """The table with all strata pooled into one, named "all"."""
    cells = [Count(0, 0)] * len(CELLS)
    for counts in table.values():
        cells = [total + cell for total, cell in zip(cells, counts, strict=True)]
    return {"all": cells}


def _complete(cells: Sequence[Count], coefficients: NDArray[np.float64]) -> bool:
    return all(cell.trials > 0 for cell, c in zip(cells, coefficients, strict=True) if c != 0)
