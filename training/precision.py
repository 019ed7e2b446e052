"""Which number format trains fastest on this processor."""

from __future__ import annotations

import time

import torch

from training.config import Precision

SPEEDUP = 1.2


def use_bfloat16(precision: Precision) -> bool:
    """Whether to train under bfloat16 autocast; `auto` measures a small product both ways."""
    if precision != "auto":
        return precision == "bfloat16"
    return _seconds(torch.float32) > SPEEDUP * _seconds(torch.bfloat16)


def _seconds(dtype: torch.dtype, repeats: int = 5) -> float:
    a = torch.randn(512, 512).to(dtype)
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        a @ a
        best = min(best, time.perf_counter() - start)
    return best
