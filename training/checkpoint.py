"""Checkpoints: safetensors and JSON, written whole or not at all; never pickle."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from robots.config import write_json
from robots.errors import DataError
from training.data.actions import ActionCodec
from training.data.normalisation import Affine
from training.model.policy import Policy, PolicyShape

MODEL, FACTS, RESUME = "model.safetensors", "checkpoint.json", "resume.safetensors"
FORMAT = 1


@dataclass(frozen=True)
class Facts:
    """What `checkpoint.json` says beside the weights.

    Attributes:
        shape, codec, state_affine: what it takes to run the policy.
        step: optimiser steps taken.
        config: the resolved training config.
        datasets: path, kind, share, realised share, fingerprint and size of each component.
        git_commit: of the training code, None outside a repository.
        embodiment: robot type, joint names and views of the data.
    """

    shape: PolicyShape
    codec: ActionCodec
    state_affine: Affine
    step: int
    config: dict[str, Any]
    datasets: list[dict[str, Any]]
    git_commit: str | None
    embodiment: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "format": FORMAT,
            "step": self.step,
            "shape": self.shape.to_json(),
            "actions": self.codec.to_json(),
            "state": self.state_affine.to_json(),
            "embodiment": self.embodiment,
            "datasets": self.datasets,
            "config": self.config,
            "git_commit": self.git_commit,
        }

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Facts:
        """Inverse of `to_json`."""
        return cls(
            shape=PolicyShape.from_json(raw["shape"]),
            codec=ActionCodec.from_json(raw["actions"]),
            state_affine=Affine.from_json(raw["state"]),
            step=raw["step"],
            config=raw["config"],
            datasets=raw["datasets"],
            git_commit=raw["git_commit"],
            embodiment=raw["embodiment"],
        )


def save_checkpoint(
    folder: Path, weights: dict[str, Tensor], facts: Facts, resume: Callable[[Path], None] | None = None
) -> None:
    """Write a checkpoint folder by one rename, so that a kill never leaves half of one.

    Args:
        folder: where it goes; one that is already there is replaced.
        weights: of the averaged network.
        facts: see `Facts`.
        resume: writes what continuing the run needs to the file it is given.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        save_file({k: v.contiguous() for k, v in weights.items()}, partial / MODEL)
        if resume is not None:
            resume(partial / RESUME)
        write_json(partial / FACTS, facts.to_json())
        partial.chmod(0o755)
        old = partial.with_name(f"{partial.name}-old")
        if folder.exists():
            folder.replace(old)
        partial.replace(folder)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def load_facts(folder: Path) -> Facts:
    """Read `checkpoint.json`.

    Raises:
        DataError: when it is missing, not JSON, or of another format.
    """
    try:
        raw = json.loads((folder / FACTS).read_text())
    except OSError as error:
        raise DataError(f"{folder} is no checkpoint: no readable {FACTS} in it") from error
    except ValueError as error:
        raise DataError(f"{folder / FACTS} is not JSON: {error}") from error
    if not isinstance(raw, dict) or raw.get("format") != FORMAT:
        raise DataError(f"{folder / FACTS}: format {FORMAT} is expected")
    try:
        return Facts.from_json(raw)
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{folder / FACTS} is incomplete: {error}") from error


def load_tensors(path: Path) -> dict[str, Tensor]:
    """Read a safetensors file, or say which file is broken."""
    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise DataError(f"{path} cannot be read: {error}") from error


def load_policy(folder: Path) -> tuple[Policy, Facts]:
    """The averaged policy of a checkpoint, ready to be asked."""
    facts = load_facts(folder)
    net = Policy(facts.shape)
    try:
        net.load_state_dict(load_tensors(folder / MODEL))
    except RuntimeError as error:
        raise DataError(f"{folder / MODEL} does not fit {FACTS}: {error}") from error
    return net.eval(), facts


def git_commit() -> str | None:
    """Commit of the repository this file lies in."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return found.stdout.strip() or None if found.returncode == 0 else None
