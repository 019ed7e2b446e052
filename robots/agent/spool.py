"""The agent's memory on disk: every trial it was given, what happened in it, and what still has to reach the lab.

One folder a trial: `trial.json` (as ordered), `events.jsonl` (each line synced), `episode/` (the recording),
`proposal.json` (written last: the trial is over). What is uploaded leaves only a line in `delivered/`, so that an order
sent again is recognised.
"""

import contextlib
import json
import os
import shutil
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robots.agent.protocol import Proposal, TrialEvent, TrialStart
from robots.config import from_json, to_json, write_json

KEPT_DELIVERIES = 2000
RESTARTED = "The agent was restarted during the trial."


@dataclass(frozen=True)
class SpooledTrial:
    """One trial on disk."""

    folder: Path

    @property
    def order(self) -> TrialStart:
        return from_json(TrialStart, json.loads((self.folder / "trial.json").read_text()))

    @property
    def trial(self) -> str:
        return self.folder.name

    @property
    def episode(self) -> Path:
        return self.folder / "episode"

    @property
    def is_over(self) -> bool:
        return (self.folder / "proposal.json").exists()

    @property
    def proposal(self) -> Proposal:
        return from_json(Proposal, json.loads((self.folder / "proposal.json").read_text()))

    @property
    def events(self) -> list[TrialEvent]:
        """Whole lines of the event file; a line cut by a power failure is left out."""
        found = []
        with contextlib.suppress(FileNotFoundError):
            for line in (self.folder / "events.jsonl").read_text().splitlines():
                with contextlib.suppress(ValueError):
                    found.append(from_json(TrialEvent, json.loads(line)))
        return found

    def log(self, kind: Any, time_s: float = 0.0, **payload: Any) -> TrialEvent:
        """Append an event with the next sequence number; on disk when this returns."""
        event = TrialEvent(
            trial=self.trial,
            event=str(uuid.uuid4()),
            sequence=len(self.events) + 1,
            kind=kind,
            time_s=round(time_s, 4),
            payload=payload,
        )
        with (self.folder / "events.jsonl").open("a") as file:
            file.write(json.dumps(to_json(event)) + "\n")
            file.flush()
            os.fsync(file.fileno())
        return event

    def finish(self, proposal: Proposal) -> None:
        """Write the proposal: from here on the trial waits only for its upload."""
        write_json(self.folder / "proposal.json", to_json(proposal))

    def episode_files(self) -> Iterator[Path]:
        """Files of the recording, relative to the episode folder."""
        if self.episode.is_dir():
            found = (path for path in self.episode.rglob("*") if path.is_file())
            yield from sorted(path.relative_to(self.episode) for path in found if not path.name.startswith("."))


class Spool:
    """All trials that this agent still owes the lab, oldest first."""

    def __init__(self, root: Path) -> None:
        self._trials = root / "trials"
        self._delivered = root / "delivered"
        self._refused = root / "refused"
        for folder in (self._trials, self._delivered, self._refused):
            folder.mkdir(parents=True, exist_ok=True)

    def knows(self, trial: str) -> bool:
        """Whether this trial was ordered before; raises ValueError when its name is no UUID."""
        name = str(uuid.UUID(trial))
        return (self._delivered / name).exists() or (self._trials / name / "trial.json").exists()

    def open(self, order: TrialStart) -> SpooledTrial:
        """Write down a new order before anything moves.

        Raises:
            ValueError: the trial's name is no UUID (it becomes a folder).
        """
        trial = SpooledTrial(self._trials / str(uuid.UUID(order.trial)))
        trial.folder.mkdir(parents=True, exist_ok=True)
        write_json(trial.folder / "trial.json", to_json(order))
        return trial

    def waiting(self) -> list[SpooledTrial]:
        """Trials that are over and not delivered."""
        return [trial for trial in self._all() if trial.is_over]

    def names(self) -> list[str]:
        return [trial.trial for trial in self._all()]

    def recover(self) -> list[SpooledTrial]:
        """After a restart: trials that a crash left open are over, and proposed as invalid."""
        broken = [trial for trial in self._all() if not trial.is_over]
        for trial in broken:
            trial.log("failed", reason=RESTARTED)
            trial.finish(Proposal(invalid_reason=RESTARTED))
        return broken

    def delivered(self, trial: SpooledTrial) -> None:
        """Forget a trial that arrived whole, except that it was run."""
        (self._delivered / trial.trial).touch()
        shutil.rmtree(trial.folder)
        marks = sorted(self._delivered.iterdir(), key=lambda path: path.stat().st_mtime)
        for mark in marks[:-KEPT_DELIVERIES]:
            mark.unlink()

    def set_aside(self, trial: SpooledTrial, reason: str) -> None:
        """Keep a trial that the lab refuses for good, out of the way, with the reason beside it."""
        (trial.folder / "refused.txt").write_text(reason + "\n")
        (self._delivered / trial.trial).touch()
        trial.folder.rename(self._refused / trial.trial)

    def _all(self) -> list[SpooledTrial]:
        folders = [path for path in self._trials.iterdir() if (path / "trial.json").exists()]
        return [SpooledTrial(path) for path in sorted(folders, key=lambda path: (path / "trial.json").stat().st_mtime)]
