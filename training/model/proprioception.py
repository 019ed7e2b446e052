"""The last samples of the measured joints as one token."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class HistoryEncoder(nn.Module):
    """Latest sample plus a few learned summaries of how it came to be.

    Summaries weigh the differences to the latest sample over time, so a joint at rest contributes nothing. In
    training the summaries are dropped at random: a policy that leans on its own recent motion repeats its mistakes.
    """

    def __init__(self, d: int, state_dim: int, history: int, summaries: int = 2, drop: float = 0.3) -> None:
        super().__init__()
        self.drop = drop
        self.time = nn.Linear(history - 1, summaries, bias=False)
        self.encode = nn.Sequential(nn.Linear(state_dim * (1 + summaries), d), nn.GELU(), nn.Linear(d, d))

    def forward(self, state: Tensor) -> Tensor:
        """Encode normalised samples (B, history, D), oldest first, as a token (B, 1, d)."""
        latest = state[:, -1]
        past = self.time((state[:, :-1] - latest[:, None]).transpose(1, 2)).flatten(1)
        if self.training:
            keep = torch.rand(len(past), 1, device=past.device) >= self.drop
            past = past * keep
        return self.encode(torch.cat([latest, past], 1))[:, None]
