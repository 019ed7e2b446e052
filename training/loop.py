"""Train until the budget is spent, leaving checkpoints that a restart continues from."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from robots.progress import Progress, StopRequestedError
from training.budget import Budget
from training.checkpoint import MODEL, RESUME, Facts, load_facts, load_tensors, save_checkpoint
from training.config import TrainConfig
from training.folder import RunFolder
from training.job import Job, prepare
from training.optimisation import learning_rate
from training.report import Report
from training.state import TrainState, restore_state, save_state
from training.step import take_step


def train(config: TrainConfig, out: Path, progress: Progress) -> dict[str, Any]:
    """Run the training in `out`, or go on with it, and return its result.

    Raises:
        ConfigError: when `out` holds another run.
        DataError: when the data or a checkpoint cannot be used.
        StopRequestedError: after saving a checkpoint, when a stop was asked for.
    """
    torch.set_num_threads(config.threads)
    folder = RunFolder(out)
    folder.check(config)
    job = prepare(config, progress)
    folder.claim(config)
    state = begin(job, folder, progress)
    try:
        run(job, state, folder, progress)
    except (StopRequestedError, KeyboardInterrupt):
        save(job, state, folder, progress)
        raise
    return finish(job, state, folder, progress)


def begin(job: Job, folder: RunFolder, progress: Progress) -> TrainState:
    """Fresh weights, or those of the newest checkpoint."""
    state = TrainState.start(job.shape, job.recipe, job.config.seed, len(job.mixture.components))
    newest = folder.newest()
    if newest is not None:
        job.check_same_data(load_facts(newest))
        restore_state(state, newest / RESUME, load_tensors(newest / MODEL))
        progress.log(f"resuming from step {state.step}")
    folder.forget_metrics_after(state.step)
    parameters = sum(p.numel() for p in state.net.parameters())
    windows = sum(len(c.windows) for c in job.mixture.components)
    number = "bfloat16" if job.bfloat16 else "float32"
    progress.log(f"{parameters:,} parameters, {windows:,} windows, {number}, {job.config.threads} thread(s)")
    return state


def run(job: Job, state: TrainState, folder: RunFolder, progress: Progress) -> None:
    """Step until the budget is spent; a progress report is the safe point where a stop takes effect."""
    budget, report = Budget.of(job.config), Report(job.config.log_every)
    saved = state.step, state.seconds
    while not budget.is_spent(state.step, state.seconds):
        timed_step(job, state, budget, report)
        if report.is_due(state.step):
            publish(state, report.take(), folder, progress)
            progress.progress(*budget.progress(state.step, state.seconds))
        if is_checkpoint_due(job.config, state, saved):
            save(job, state, folder, progress)
            saved = state.step, state.seconds


def timed_step(job: Job, state: TrainState, budget: Budget, report: Report) -> None:
    """Draw, step, and count what both cost."""
    started = time.perf_counter()
    batch = job.mixture.draw(state.rng, job.config.batch)
    waited = time.perf_counter() - started
    rate = learning_rate(job.recipe, state.step, budget.fraction(state.step, state.seconds))
    loss = take_step(job, state, batch, rate)
    spent = time.perf_counter() - started
    report.add(loss, rate, waited, spent)
    state.step += 1
    state.seconds += spent
    state.drawn += np.bincount(batch.component, minlength=len(state.drawn))


def is_checkpoint_due(config: TrainConfig, state: TrainState, saved: tuple[int, float]) -> bool:
    """Whether enough steps or minutes have passed since the last checkpoint (its step and seconds)."""
    step, seconds = saved
    enough = state.step - step >= config.checkpoint_steps
    return enough or state.seconds - seconds >= 60 * config.checkpoint_minutes


def publish(state: TrainState, values: dict[str, float], folder: RunFolder, progress: Progress) -> None:
    """Hand metrics to whoever listens, and keep them in the folder."""
    folder.append_metrics(state.step, values)
    for name, value in values.items():
        progress.metric(state.step, name, value)


def save(job: Job, state: TrainState, folder: RunFolder, progress: Progress) -> Facts:
    """Write the checkpoint of this step and drop old ones."""
    where = folder.checkpoint(state.step)
    facts = job.facts(state.step, state.drawn.tolist())
    save_checkpoint(where, state.ema.state_dict(), facts, lambda path: save_state(state, path))
    folder.prune(job.config.keep_checkpoints)
    progress.artifact(where.relative_to(folder.root), "checkpoint")
    return facts


def finish(job: Job, state: TrainState, folder: RunFolder, progress: Progress) -> dict[str, Any]:
    """Write the last checkpoint and `final`, which has no optimiser state."""
    facts = save(job, state, folder, progress)
    save_checkpoint(folder.final, state.ema.state_dict(), facts)
    progress.artifact(folder.final.relative_to(folder.root), "checkpoint")
    return {
        "checkpoint": "final",
        "step": state.step,
        "training_seconds": round(state.seconds, 1),
        "parameters": sum(p.numel() for p in state.net.parameters()),
        "datasets": facts.datasets,
    }
