"""The output folder of a run: config, metrics, checkpoints."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path

from robots.config import load_config, save_config
from robots.errors import ConfigError
from training.checkpoint import FACTS, RESUME
from training.config import TrainConfig

BUDGET = ("steps", "minutes")
BOOKKEEPING = ("checkpoint_minutes", "checkpoint_steps", "keep_checkpoints", "log_every", "cache_dir")
MAY_CHANGE = (*BUDGET, *BOOKKEEPING, "threads", "precision")


class RunFolder:
    """Paths and rules of one output folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.checkpoints = root / "checkpoints"
        self.final = root / "final"
        self.metrics = root / "metrics.jsonl"

    def check(self, config: TrainConfig) -> None:
        """Make sure that a config already there asks for the same training.

        Raises:
            ConfigError: when the folder belongs to a run that differs in more than budget and bookkeeping.
        """
        path = self.root / "config.json"
        if not path.is_file():
            return
        before = load_config(TrainConfig, path)
        same = replace(before, **{name: getattr(config, name) for name in MAY_CHANGE})
        changed = [n for n in TrainConfig.__dataclass_fields__ if getattr(same, n) != getattr(config, n)]
        if changed:
            message = f"{self.root} holds a run with another {changed[0]}; choose another folder to start afresh"
            raise ConfigError(message, changed[0])

    def claim(self, config: TrainConfig) -> None:
        """Save the resolved config; from here on the folder is this run's."""
        save_config(config, self.root / "config.json")

    def newest(self) -> Path | None:
        """The newest checkpoint that a run can continue from."""
        whole = [p for p in self.checkpoints.glob("step-*") if (p / RESUME).is_file() and (p / FACTS).is_file()]
        return max(whole, key=_step, default=None)

    def checkpoint(self, step: int) -> Path:
        """Where the checkpoint of a step goes."""
        return self.checkpoints / f"step-{step:06d}"

    def prune(self, keep: int) -> None:
        """Remove all but the newest checkpoints, and what killed writers left."""
        folders = sorted(self.checkpoints.glob("step-*"), key=_step)
        for folder in [*folders[:-keep], *self.checkpoints.glob(".step-*"), *self.root.glob(".final-*")]:
            shutil.rmtree(folder, ignore_errors=True)

    def forget_metrics_after(self, step: int) -> None:
        """Drop metric lines beyond the step a run resumes from, so that each (step, name) has one value."""
        if not self.metrics.is_file():
            return
        kept = []
        for line in self.metrics.read_text().splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if row["step"] <= step:
                kept.append(line)
        self.metrics.write_text("".join(f"{line}\n" for line in kept))

    def append_metrics(self, step: int, values: dict[str, float]) -> None:
        """Add one line per value; a value that is not finite is stored as null."""
        with self.metrics.open("a") as file:
            for name, value in values.items():
                finite = value if math.isfinite(value) else None
                file.write(json.dumps({"step": step, "name": name, "value": finite}) + "\n")


def _step(folder: Path) -> int:
    return int(folder.name.removeprefix("step-"))
