"""The recording of one trial: an episodes folder of its own with states, commands and every view's video."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robots.agent.protocol import Proposal, TrialStart
from robots.agent.rig import Observation, Rig
from robots.agent.rollout import CONTROL_HZ
from robots.config import to_json
from robots.episodes import EpisodesWriter, Feature

IMAGES = "observation.images."


class TrialRecording:
    """Collects one trial; `commit` makes it whole, leaving the context without it leaves no episode."""

    def __init__(self, folder: Path, rig: Rig, first: Observation, order: TrialStart) -> None:
        vector = Feature.vector(rig.joint_names, units="rad")
        features = {"observation.state": vector, "action": vector}
        for view, image in first.images.items():
            features[IMAGES + view] = Feature.video(*image.shape[:2])
        self._order = order
        self._writer = EpisodesWriter.create(folder, fps=CONTROL_HZ, robot_type=rig.robot_type, features=features)
        self._episode = self._writer.episode(task=order.instruction)
        self._rows = 0

    def __enter__(self) -> "TrialRecording":
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()

    def add(self, seen: Observation, command: NDArray[np.float64]) -> None:
        """One control tick: what was seen and commanded at it."""
        row: dict[str, object] = {IMAGES + view: image for view, image in seen.images.items()}
        row["observation.state"] = np.asarray(seen.position, dtype=np.float32)
        row["action"] = np.asarray(command, dtype=np.float32)
        self._episode.add(row)
        self._rows += 1

    def commit(self, proposal: Proposal, extra: dict[str, object]) -> None:
        """Make the recording whole; without a single tick there is none."""
        if self._rows == 0:
            return
        outcome = "invalid" if proposal.invalid_reason else "success" if proposal.success else proposal.failure_mode
        facts = {"trial": self._order.trial, "code": self._order.code, "condition": self._order.condition}
        self._episode.commit(extra={**facts, "outcome": outcome, "proposal": to_json(proposal), **extra})


def video_paths(folder: Path) -> dict[str, str]:
    """View name to the path of its video in a trial's recording."""
    return {
        path.relative_to(folder).parts[1].removeprefix(IMAGES): path.relative_to(folder).as_posix()
        for path in sorted(folder.glob(f"videos/{IMAGES}*/*/*.mp4"))
    }
