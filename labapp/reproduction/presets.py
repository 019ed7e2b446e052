"""How large a reproduction of the study is. Numbers only; nothing here is chosen for its outcome."""

from dataclasses import dataclass


@dataclass(frozen=True)
class StudyPreset:
    """One size of the study.

    Attributes:
        demonstrations: on the bench cell.
        trajectories: accepted ones per grounding configuration.
        training_steps: the same for every policy, so that a busy machine favours none.
        blocks: how many blocks of the schedule are run (each holds one trial per policy); None for all 50.
        real_weight: share of training windows drawn from demonstrations when simulated data are there too.
        belt_speed: range of demonstrations and simulated data [m/s].
    """

    name: str
    demonstrations: int
    trajectories: int
    training_steps: int
    blocks: int | None
    image_size: int = 64
    camera_fps: float = 12.5
    real_weight: float = 0.3
    belt_speed: tuple[float, float] = (0.08, 0.12)
    seed: int = 0


PRESETS = {
    # As small as it can be: shows that the loop closes on this machine, says nothing about grounding.
    "smoke": StudyPreset("smoke", demonstrations=6, trajectories=8, training_steps=40, blocks=2),
    "quick": StudyPreset("quick", demonstrations=40, trajectories=200, training_steps=1000, blocks=20),
    "full": StudyPreset("full", demonstrations=100, trajectories=1500, training_steps=15000, blocks=None),
}
