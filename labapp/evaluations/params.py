"""What an evaluation is asked for; validated when made, an error names the field."""

from dataclasses import dataclass
from typing import Literal, get_args

from labapp.options import require, seed_within, within

Video = Literal["seen", "smooth", "none"]
VIDEOS: tuple[Video, ...] = get_args(Video)
Amount = Literal["run", "planned", "each"]
AMOUNTS: tuple[Amount, ...] = get_args(Amount)
MAX_ROLLOUTS = 1000


@dataclass(frozen=True)
class EvaluateOptions:
    """How many rollouts, of which seed, and what the policies see.

    Attributes:
        amount: of each condition as many as the study's trials run so far, as it plans, or ``rollouts``.
        image_size: of the views [px]; the default is the agent's.
        video: of each rollout the frames that the policy sees, smoother ones, or none.
    """

    amount: Amount = "planned"
    rollouts: int = 20
    seed: int = 0
    image_size: int = 128
    video: Video = "seen"

    def __post_init__(self) -> None:
        is_fit = self.video == "none" or self.image_size % 2 == 0
        require(
            (self.amount in AMOUNTS, "amount", f"must be one of {', '.join(AMOUNTS)}, got {self.amount}"),
            within("rollouts", self.rollouts, 1, MAX_ROLLOUTS),
            seed_within(self.seed),
            within("image_size", self.image_size, 16, 640, " pixels"),
            (is_fit, "image_size", f"must be even for video, got {self.image_size}"),
            (self.video in VIDEOS, "video", f"must be one of {', '.join(VIDEOS)}, got {self.video}"),
        )


@dataclass(frozen=True)
class EvaluateParams:
    """The evaluation's row holds everything else."""

    evaluation: int
