"""Study presets: the conditions of the paper (24 nominal + 26 shifted trials per policy)."""

from dataclasses import dataclass

NOMINAL_BELT = (0.08, 0.12)  # m/s
FASTER_BELT = (0.16, 0.20)


@dataclass(frozen=True)
class ConditionPreset:
    slug: str
    label: str
    trials_per_arm: int
    is_shifted: bool = True
    light: str = "white"
    belt_speed: tuple[float, float] = NOMINAL_BELT
    uses_novel_objects: bool = False


# The paper gives 26 shifted trials, one of them with every shift; how the other 25 divide is our choice.
PAPER_CONDITIONS = (
    ConditionPreset("nominal", "Nominal", 24, is_shifted=False),
    ConditionPreset("red-light", "Red light", 9, light="red"),
    ConditionPreset("faster-belt", "Faster belt", 8, belt_speed=FASTER_BELT),
    ConditionPreset("novel-objects", "Novel objects", 8, uses_novel_objects=True),
    ConditionPreset("all-shifts", "All shifts", 1, light="red", belt_speed=FASTER_BELT, uses_novel_objects=True),
)
