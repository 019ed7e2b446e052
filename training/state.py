"""Everything that changes while training, and how it survives a restart."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from robots.errors import DataError
from training.model.policy import Policy, PolicyShape
from training.optimisation import PolicyOptimizer
from training.presets import Preset

MOMENT = "optimizer."


@dataclass
class TrainState:
    """Weights, optimiser, random numbers and counters.

    Attributes:
        net, ema: trained and averaged network.
        optimizer: over `net`.
        rng: draws the windows; torch's own generator draws noise and flow times.
        step: optimiser steps taken.
        seconds: training time spent, over all restarts [s].
        drawn: windows drawn per component, over all restarts.
    """

    net: Policy
    ema: Policy
    optimizer: PolicyOptimizer
    rng: np.random.Generator
    drawn: np.ndarray
    step: int = 0
    seconds: float = 0.0

    @classmethod
    def start(cls, shape: PolicyShape, recipe: Preset, seed: int, components: int) -> TrainState:
        """Fresh weights from a seed."""
        torch.manual_seed(seed)
        net, ema = Policy(shape), Policy(shape)
        ema.load_state_dict(net.state_dict())
        rng = np.random.default_rng(seed)
        return cls(net.train(), ema.eval(), PolicyOptimizer(net, recipe), rng, np.zeros(components, np.int64))


def save_state(state: TrainState, path: Path) -> None:
    """Write weights, moments and random states as one safetensors file; counters go into its metadata."""
    tensors = {f"net.{name}": value.contiguous() for name, value in state.net.state_dict().items()}
    for name, parameter in state.net.named_parameters():
        moments = state.optimizer.state_of(parameter)
        tensors |= {f"{MOMENT}{key}.{name}": value.clone() for key, value in moments.items()}
    tensors["torch_rng"] = torch.get_rng_state()
    counters = {
        "step": state.step,
        "seconds": state.seconds,
        "drawn": state.drawn.tolist(),
        "rng": state.rng.bit_generator.state,
    }
    save_file(tensors, path, metadata={"counters": json.dumps(counters)})


def restore_state(state: TrainState, path: Path, ema: dict[str, Tensor]) -> None:
    """Put a saved state into a freshly started one.

    Raises:
        DataError: when the file is broken or belongs to another network.
    """
    try:
        with safe_open(path, "pt") as file:
            counters = json.loads(file.metadata()["counters"])
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 - safe_open is no mapping
        state.net.load_state_dict({k.removeprefix("net."): v for k, v in tensors.items() if k.startswith("net.")})
        state.ema.load_state_dict(ema)
    except (OSError, SafetensorError, RuntimeError, KeyError, TypeError) as error:
        raise DataError(f"cannot resume from {path}: {error}") from error
    restore_moments(state, tensors)
    torch.set_rng_state(tensors["torch_rng"])
    state.rng.bit_generator.state = counters["rng"]
    state.step, state.seconds = counters["step"], counters["seconds"]
    state.drawn = np.array(counters["drawn"], np.int64)


def restore_moments(state: TrainState, tensors: dict[str, Tensor]) -> None:
    """Hand each parameter's moments, stored as `optimizer.<moment>.<parameter>`, back to its optimiser."""
    moments: dict[str, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        if key.startswith(MOMENT):
            moment, owner = key.removeprefix(MOMENT).split(".", 1)
            moments.setdefault(owner, {})[moment] = value.clone()
    for name, parameter in state.net.named_parameters():
        if name in moments:
            state.optimizer.restore(parameter, moments[name])
