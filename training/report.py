"""Averages of what happened since the last report."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Report:
    """Collects steps and hands out their averages every `every` steps."""

    every: int
    rows: list[tuple[float, float, float, float]] = field(default_factory=list)

    def add(self, loss: float, rate: float, waited: float, spent: float) -> None:
        """One step: loss, learning rate, seconds waited for data, seconds in all."""
        self.rows.append((loss, rate, waited, spent))

    def is_due(self, step: int) -> bool:
        """Whether this step ends a report."""
        return step % self.every == 0

    def take(self) -> dict[str, float]:
        """Averages since the last call, which are then forgotten."""
        loss, rate, waited, spent = np.array(self.rows).T
        self.rows.clear()
        share = float(waited.sum() / spent.sum())
        return {
            "loss": float(loss.mean()),
            "learning_rate": float(rate[-1]),
            "data_wait": share,
            "steps_per_minute": float(60 * len(loss) / spent.sum()),
        }
