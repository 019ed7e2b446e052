"""Conditional flow matching: `x_t = (1 - t) x_0 + t x_1`, `v = x_1 - x_0`, x_0 noise, x_1 data."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


def interpolate(x_0: Tensor, x_1: Tensor, t: Tensor) -> Tensor:
    """Point at time t (B,) on the straight path from noise x_0 to data x_1 (B, T, A)."""
    t = t[:, None, None]
    return (1 - t) * x_0 + t * x_1


def flow_loss(v: Tensor, x_0: Tensor, x_1: Tensor, is_valid: Tensor) -> Tensor:
    """Mean squared velocity error over valid ticks; padded ticks count for nothing.

    Args:
        v: predicted velocity (B, T, A).
        x_0, x_1: noise and data (B, T, A).
        is_valid: ticks inside the episode (B, T).

    Returns:
        Scalar; 0 when no tick is valid.
    """
    error = torch.where(is_valid[..., None], v - (x_1 - x_0), torch.zeros_like(v)).square()
    return error.sum() / (is_valid.sum() * v.shape[-1]).clamp(min=1)


@torch.no_grad()
def euler_sample(velocity: Callable[[Tensor, Tensor], Tensor], x_0: Tensor, steps: int = 2) -> Tensor:
    """Integrate the flow from noise x_0 (B, T, A) at t = 0 to t = 1 in equal Euler steps."""
    x = x_0
    for i in range(steps):
        t = torch.full((len(x),), i / steps)
        x = x + velocity(x, t) / steps
    return x
