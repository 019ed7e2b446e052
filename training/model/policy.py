"""The policy: views, joints, text and embodiment to eight task tokens, a flow transformer to action chunks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from training.model.layers import CrossBlock
from training.model.proprioception import HistoryEncoder
from training.model.text import WordEncoder
from training.model.vision import ViewEncoder


@dataclass(frozen=True)
class PolicyShape:
    """Everything that fixes the network's parameters.

    Attributes:
        views: camera names, in the order of the image axis.
        embodiments: known embodiment ids.
        image_size: side of the square images [px].
        state_dim, action_dim: lengths of the joint vector and of the action latent.
        history: proprioceptive samples, at 50 Hz.
        chunk: action steps, at 50 Hz.
        group: action steps that share one transformer token.
        width, heads, depth: transformer size.
        task_tokens: tokens that the resampler hands to the action transformer.
    """

    views: tuple[str, ...]
    embodiments: tuple[str, ...]
    image_size: int
    state_dim: int
    action_dim: int
    history: int = 20
    chunk: int = 40
    group: int = 8
    width: int = 128
    heads: int = 4
    depth: int = 3
    task_tokens: int = 8

    def __post_init__(self) -> None:
        if not self.views or not self.embodiments:
            raise ValueError("a policy needs at least one view and one embodiment")
        if self.chunk % self.group:
            raise ValueError(f"chunk {self.chunk} must be a multiple of group {self.group}")
        if self.width % self.heads:
            raise ValueError(f"width {self.width} must be a multiple of heads {self.heads}")

    def to_json(self) -> dict[str, Any]:
        """Plain values, for the checkpoint."""
        return asdict(self)

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> PolicyShape:
        """Inverse of `to_json`."""
        return cls(**{**raw, "views": tuple(raw["views"]), "embodiments": tuple(raw["embodiments"])})


@dataclass(frozen=True)
class Observation:
    """A batch of what the policy sees.

    Attributes:
        images: uint8 (B, V, S, S, 3).
        state: normalised joints, oldest first (B, history, D).
        instruction: which of `texts` each example carries (B,).
        texts: distinct instructions.
        embodiment: index into the shape's embodiments (B,).
        gain: colour factors per view that the images are multiplied with (B, V, 3), in training only.
    """

    images: Tensor
    state: Tensor
    instruction: Tensor
    texts: Sequence[str]
    embodiment: Tensor
    gain: Tensor | None = None


def scale_pixels(image: Tensor, gain: Tensor | None = None) -> Tensor:
    """uint8 0 .. 255 to -1 .. 1, each colour first multiplied by its gain.

    Under autocast the result is bfloat16, in which pixel - 127.5 is still exact.

    Args:
        image: (V, B, S, S, 3).
        gain: factors per view, example and colour (V, B, 3); None for 1.

    Returns:
        (V, B, 3, S, S).
    """
    dtype = torch.bfloat16 if torch.is_autocast_enabled("cpu") else torch.float32
    x = image.permute(0, 1, 4, 2, 3).contiguous().to(dtype).sub_(127.5)
    if gain is None:
        return x.div_(127.5)
    factor = gain.to(dtype)[..., None, None]
    return x.mul_(factor / 127.5).add_(factor - 1)


class Resampler(nn.Module):
    """Learned queries that gather a context of any length into a fixed number of tokens."""

    def __init__(self, d: int, heads: int, tokens: int, depth: int = 1) -> None:
        super().__init__()
        self.query = nn.Parameter(torch.randn(tokens, d) / math.sqrt(d))
        self.blocks = nn.ModuleList(CrossBlock(d, heads) for _ in range(depth))

    def forward(self, context: Tensor, is_real: Tensor) -> Tensor:
        """Gather (B, M, d) with a mask (B, M) into (B, tokens, d)."""
        x = self.query.expand(len(context), -1, -1)
        for block in self.blocks:
            x = block(x, context, is_real)
        return x


class FlowTransformer(nn.Module):
    """Velocity of an action chunk at flow time t, given the task tokens."""

    frequency: Tensor

    def __init__(self, shape: PolicyShape) -> None:
        super().__init__()
        d, self.group, packed = shape.width, shape.group, shape.action_dim * shape.group
        self.take, self.give = nn.Linear(packed, d), nn.Linear(d, packed)
        self.position = nn.Parameter(torch.randn(shape.chunk // shape.group, d) / math.sqrt(d))
        self.time = nn.Sequential(nn.Linear(32, d), nn.GELU(), nn.Linear(d, d))
        self.register_buffer("frequency", torch.exp(torch.linspace(0, 4, 16)), persistent=False)
        self.blocks = nn.ModuleList(CrossBlock(d, shape.heads) for _ in range(shape.depth))
        self.norm = nn.LayerNorm(d)

    def forward(self, x: Tensor, t: Tensor, task: Tensor) -> Tensor:
        """Velocity (B * K, T, A) of latents (B * K, T, A) at times (B * K,) for task tokens (B, 8, d)."""
        angle = t[:, None] * self.frequency
        time = self.time(torch.cat([angle.sin(), angle.cos()], 1))
        h = self.take(x.reshape(len(x), -1, self.take.in_features)) + self.position + time[:, None]
        for block in self.blocks:
            h = block(h, task)
        return self.give(self.norm(h)).reshape(x.shape)


class Policy(nn.Module):
    """See the module's docstring; `encode` once per image, `velocity` as often as needed."""

    def __init__(self, shape: PolicyShape) -> None:
        super().__init__()
        d = shape.width
        self.shape = shape
        self.views = nn.ModuleList(ViewEncoder(d, shape.image_size) for _ in shape.views)
        self.history = HistoryEncoder(d, shape.state_dim, shape.history)
        self.text = WordEncoder(d)
        self.embodiment = nn.Embedding(len(shape.embodiments), d)
        self.kind = nn.Parameter(torch.randn(ViewEncoder.tokens * len(shape.views) + 2, d) / math.sqrt(d))
        self.resampler = Resampler(d, shape.heads, shape.task_tokens)
        self.flow = FlowTransformer(shape)

    def encode(self, seen: Observation) -> Tensor:
        """Task tokens (B, 8, d) of an observation."""
        gain = None if seen.gain is None else seen.gain.transpose(0, 1)
        image = scale_pixels(seen.images.transpose(0, 1), gain)
        tokens = [view(image[i]) for i, view in enumerate(self.views)]
        tokens += [self.history(seen.state), self.embodiment(seen.embodiment)[:, None]]
        words, is_word = self.text(seen.texts)
        body = torch.cat(tokens, 1) + self.kind
        context = torch.cat([body, words[seen.instruction]], 1)
        is_real = torch.cat([is_word.new_ones(body.shape[:2]), is_word[seen.instruction]], 1)
        return self.resampler(context, is_real)

    def velocity(self, x: Tensor, t: Tensor, task: Tensor) -> Tensor:
        """See `FlowTransformer`."""
        return self.flow(x, t, task)
