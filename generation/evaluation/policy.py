"""What an evaluation asks of a policy: chunks of commands for a batch of observations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Seen:
    """What one rollout shows a policy.

    Attributes:
        images: view to uint8 (H, W, 3). state: joint positions at the last 20 ticks, oldest first, float32 (20, 54).
        instruction: what to do. seed: of the policy's own noise.
        number, tick: which rollout, and when; a policy that replays something needs them, a trained one ignores them.
    """

    images: Mapping[str, NDArray[np.uint8]]
    state: NDArray[np.float32]
    instruction: str
    seed: int
    number: int
    tick: int


class Policy(Protocol):
    """A policy as an evaluation sees it."""

    @property
    def views(self) -> tuple[str, ...]:
        """Views that it looks at."""

    def act(self, seen: Sequence[Seen]) -> NDArray[np.float32]:
        """Commands (B, K, 54) [rad] for the next K ticks of B rollouts."""
