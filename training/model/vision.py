"""One camera view to tokens: where things are, and what they are."""

from __future__ import annotations

import torch
from torch import Tensor, nn

STRIDE = 4
POOLED = 4


def _conv(inputs: int, outputs: int, kernel: int, stride: int) -> nn.Sequential:
    padding = (kernel - stride + 1) // 2
    conv = nn.Conv2d(inputs, outputs, kernel, stride, padding)
    return nn.Sequential(conv, nn.GroupNorm(8, outputs), nn.ReLU())


class ViewEncoder(nn.Module):
    """Small convolutions at a quarter of the resolution, then a spatial soft-argmax token and a pooled token.

    The soft-argmax gives image coordinates of learned features with less than a cell's error, which is what a grasp
    needs; the pooled token keeps what it is. Cost is dominated by the quarter-resolution convolutions.
    """

    tokens = 2
    axis: Tensor

    def __init__(self, d: int, size: int, stem: int = 32, width: int = 64, keypoints: int = 32) -> None:
        super().__init__()
        if size % (4 * STRIDE):
            raise ValueError(f"image size {size} must be a multiple of {4 * STRIDE}")
        self.stem = _conv(3, stem, 2 * STRIDE, STRIDE)
        self.body = _conv(stem, width, 3, 1)
        self.key = nn.Conv2d(width, keypoints, 1)
        self.pool = nn.Sequential(_conv(width, 32, 3, 2), nn.AdaptiveAvgPool2d(POOLED), nn.Flatten())
        axis = torch.linspace(-1, 1, size // STRIDE)
        self.register_buffer("axis", axis, persistent=False)
        self.where = nn.Sequential(nn.Linear(2 * keypoints, d), nn.GELU(), nn.Linear(d, d))
        self.what = nn.Linear(32 * POOLED**2, d)

    def forward(self, image: Tensor) -> Tensor:
        """Encode images (B, 3, S, S) scaled to [-1, 1] as tokens (B, 2, d)."""
        h = self.body(self.stem(image))
        p = self.key(h).float().flatten(2).softmax(-1).unflatten(2, h.shape[2:])
        x, y = p.sum(2) @ self.axis, p.sum(3) @ self.axis
        return torch.stack([self.where(torch.cat([x, y], 1)), self.what(self.pool(h))], 1)
