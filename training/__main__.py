"""`python -m training train|serve|info`."""

from __future__ import annotations

import os
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from robots.config import load_config
from robots.errors import ConfigError
from robots.progress import Progress, run_command


@dataclass(frozen=True)
class Train:
    """Train a policy, or go on with a training that was stopped."""

    config: tyro.conf.Positional[Path]
    """JSON file with the fields of TrainConfig."""
    out: tyro.conf.Positional[Path]
    """Output folder: checkpoints/, final/, config.json, metrics.jsonl."""
    events: bool = False
    """Print one JSON object a line instead of a progress bar."""

    def __call__(self, progress: Progress) -> dict[str, Any]:
        from training.config import TrainConfig
        from training.loop import train

        return train(load_config(TrainConfig, self.config), self.out, progress)


@dataclass(frozen=True)
class Serve:
    """Answer requests for action chunks on a Unix socket until stopped."""

    checkpoint: tyro.conf.Positional[Path]
    """Checkpoint folder with model.safetensors and checkpoint.json."""
    socket: Path
    """Where to listen."""
    threads: int = 1
    """CPU threads."""
    seed: int = 0
    """Seed of the flow's noise."""
    exit_with_parent: bool = False
    """Also stop when the process that started this one is gone."""
    events: bool = False
    """Print one JSON object a line."""

    def __call__(self, progress: Progress) -> dict[str, Any]:
        parent = os.getppid() if self.exit_with_parent else None
        import torch

        from training.inference import TrainedPolicy
        from training.serve import PolicyServer, warm_up

        if self.threads < 1:
            raise ConfigError("must be at least 1", "threads")
        torch.set_num_threads(self.threads)
        policy = TrainedPolicy.load(self.checkpoint, self.seed)
        latency = warm_up(policy)
        with PolicyServer(policy, self.socket) as server:
            thread = threading.Thread(target=server.serve_forever, daemon=True)
            thread.start()
            progress.log(f"serving {self.checkpoint} on {self.socket}, {latency:.1f} ms an answer")
            wait_for_stop(progress, parent)
            server.shutdown()
        return {"ok": True}


@dataclass(frozen=True)
class Info:
    """Say what a checkpoint is."""

    checkpoint: tyro.conf.Positional[Path]
    """Checkpoint folder."""
    json: Path | None = None
    """Also write the answer to this file."""
    events: bool = False
    """Print one JSON object a line."""

    def __call__(self, progress: Progress) -> dict[str, Any]:
        from training.checkpoint import load_facts

        facts = load_facts(self.checkpoint)
        names = ("step", "embodiment", "datasets", "git_commit", "config")
        answer = {name: value for name, value in facts.to_json().items() if name in names}
        return answer | {"latent_actions": facts.codec.latent_dim, "views": list(facts.shape.views)}


def wait_for_stop(progress: Progress, parent: int | None = None) -> None:
    """Sleep until SIGTERM or Ctrl-C, or until the process `parent` is this one's parent no more."""
    pause = threading.Event()
    while not progress.stop_requested and parent in (None, os.getppid()):
        pause.wait(0.2)


Command = Annotated[
    Annotated[Train, tyro.conf.subcommand("train")]
    | Annotated[Serve, tyro.conf.subcommand("serve")]
    | Annotated[Info, tyro.conf.subcommand("info")],
    tyro.conf.OmitSubcommandPrefixes,
]


def main() -> int:
    """Parse the command line and run one command."""
    command = tyro.cli(Command, prog="python -m training", description="Demonstrations and simulation to policies.")
    return run_command(command, events=command.events, json_out=getattr(command, "json", None))


if __name__ == "__main__":
    sys.exit(main())
