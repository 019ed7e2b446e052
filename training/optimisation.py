"""Optimiser, learning rate and weight averaging."""

from __future__ import annotations

import math

import torch
from torch import nn

from training.presets import Preset


def make_optimizer(net: nn.Module, recipe: Preset) -> torch.optim.AdamW:
    """AdamW in its fused form: one pass over all parameters."""
    return torch.optim.AdamW(
        net.parameters(),
        recipe.learning_rate,
        betas=(0.9, recipe.beta2),
        weight_decay=recipe.weight_decay,
        fused=True,
    )


def learning_rate(recipe: Preset, step: int, fraction: float) -> float:
    """Linear warm-up over steps times a cosine over the spent fraction of the budget (0 .. 1)."""
    rise = min(1.0, (step + 1) / recipe.warmup_steps)
    return recipe.learning_rate * rise * 0.5 * (1 + math.cos(math.pi * min(fraction, 1.0))) + 1e-6


@torch.no_grad()
def average_into(ema: nn.Module, net: nn.Module, recipe: Preset, step: int) -> None:
    """Move the averaged weights towards the trained ones, faster in the first steps."""
    decay = min(recipe.ema, (1 + step) / (20 + step))
    torch._foreach_lerp_(list(ema.parameters()), list(net.parameters()), 1 - decay)
