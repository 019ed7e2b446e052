"""The factorial design among a study's arms."""

from collections.abc import Sequence
from dataclasses import dataclass

from labapp.statistics.factorial import CELLS
from labapp.statistics.rows import order_levels
from labapp.studies.arms import GROUNDING, Arm


@dataclass(frozen=True)
class Design:
    """The two factors of a study with their (low, high) levels, and the arms of each cell in the order of CELLS."""

    names: tuple[str, str]
    levels: tuple[tuple[str, str], tuple[str, str]]
    cells: tuple[tuple[Arm, ...], ...]

    @property
    def arms(self) -> list[Arm]:
        """Arms of all cells."""
        return [arm for cell in self.cells for arm in cell]


def find_design(arms: Sequence[Arm]) -> Design | None:
    """The 2 x 2 design among the arms, or None where they do not form one.

    Partly grounded worlds and arms without factors stay outside it.
    """
    factored = [arm for arm in arms if arm.factors and "partly grounded" not in arm.factors.values()]
    names = list(dict.fromkeys(name for arm in factored for name in arm.factors))
    if len(names) != 2 or any(len(arm.factors) != 2 for arm in factored):
        return None
    try:
        a, b = (order_levels([arm.factors[name] for arm in factored], name) for name in names)
    except ValueError:
        return None
    cells = tuple(
        tuple(arm for arm in factored if (arm.factors[names[0]], arm.factors[names[1]]) == (a[high_a], b[high_b]))
        for high_a, high_b in CELLS
    )
    return Design((names[0], names[1]), (a, b), cells)


def effect_labels(design: Design) -> dict[str, str]:
    """Effects in words: "world grounding" for grounded - ungrounded, else "method cgvd over baseline"."""

    def label(name: str, levels: tuple[str, str]) -> str:
        return f"{name} grounding" if set(levels) == set(GROUNDING) else f"{name} {levels[1]} over {levels[0]}"

    a, b = (label(name, levels) for name, levels in zip(design.names, design.levels, strict=True))
    return {"main_a": a, "main_b": b, "interaction": "interaction"}
