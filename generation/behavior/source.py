"""The two behavior sources behind one call: a task and random numbers in, a tool plan out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from generation.behavior.adapt import adapt, select_source
from generation.behavior.demonstration import Demonstration
from generation.behavior.plan import ToolPlan
from generation.behavior.synthesize import Synthesizer
from generation.behavior.task import PickTask


class Behavior(Protocol):
    """Plans one pick-and-place."""

    def plan(self, task: PickTask, rng: np.random.Generator) -> ToolPlan:
        """The wanted motion; raises ValueError where there is none for this task."""


@dataclass(frozen=True)
class Adaptation:
    """Grounded behavior over a set of demonstrations."""

    demonstrations: Sequence[Demonstration]

    def plan(self, task: PickTask, rng: np.random.Generator) -> ToolPlan:
        """A nearby demonstration moved to the task; raises ValueError where it cannot be."""
        return adapt(select_source(self.demonstrations, task, rng), task)


__all__ = ["Adaptation", "Behavior", "Synthesizer"]
