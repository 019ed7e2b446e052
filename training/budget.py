"""How long a run may train."""

from __future__ import annotations

from dataclasses import dataclass

from training.config import TrainConfig


@dataclass(frozen=True)
class Budget:
    """Whichever of the two comes first; infinite where none was given."""

    steps: float
    seconds: float

    @classmethod
    def of(cls, config: TrainConfig) -> Budget:
        """The budget of a config."""
        steps = float("inf") if config.steps is None else config.steps
        return cls(steps, float("inf") if config.minutes is None else 60 * config.minutes)

    def fraction(self, step: int, seconds: float) -> float:
        """Spent part, 1 at the end."""
        return max(step / self.steps, seconds / self.seconds)

    def is_spent(self, step: int, seconds: float) -> bool:
        """Whether training ends here."""
        return self.fraction(step, seconds) >= 1

    def progress(self, step: int, seconds: float) -> tuple[int, int, str]:
        """Done, total and unit for a progress bar, in the measure that is closer to its end."""
        if step / self.steps >= seconds / self.seconds:
            return step, int(self.steps), "steps"
        return int(seconds), int(self.seconds), "seconds"
