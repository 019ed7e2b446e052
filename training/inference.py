"""A trained policy as a function of what a robot sees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from training.checkpoint import Facts, load_policy
from training.data.frames import resize
from training.flow import euler_sample
from training.model.policy import Observation, Policy

EULER_STEPS = 2


@dataclass(frozen=True)
class Seen:
    """One request.

    Attributes:
        images: view name to uint8 (H, W, 3).
        state: measured joints at 50 Hz, oldest first (history, D).
        instruction: what to do.
        embodiment: robot type.
        seed: of this answer's noise; None takes the next of the policy's own generator.
    """

    images: Mapping[str, np.ndarray]
    state: np.ndarray
    instruction: str
    embodiment: str
    seed: int | None = None


class TrainedPolicy:
    """Weights and normalisation of one checkpoint."""

    def __init__(self, net: Policy, facts: Facts, seed: int = 0) -> None:
        self.net, self.facts = net, facts
        self.generator = torch.Generator().manual_seed(seed)

    @classmethod
    def load(cls, folder: Path, seed: int = 0) -> TrainedPolicy:
        """Read a checkpoint folder; raises DataError when it is none."""
        return cls(*load_policy(folder), seed)

    def act(self, seen: Seen) -> np.ndarray:
        """Commands for the next ticks (chunk, D), absolute joint positions at 50 Hz; raises as `act_many`."""
        return self.act_many([seen])[0]

    @torch.inference_mode()
    def act_many(self, seen: Sequence[Seen]) -> np.ndarray:
        """Commands (B, chunk, D) for B observations in one pass.

        Raises:
            ValueError: none at all, or a view, state or embodiment that is not what the policy was trained with.
        """
        if not seen:
            raise ValueError("a batch holds at least one observation")
        task = self.net.encode(self._observe(seen))
        x_0 = torch.stack([self._noise(one.seed) for one in seen])
        latent = euler_sample(lambda x, t: self.net.velocity(x, t, task), x_0, EULER_STEPS)
        measured = np.stack([np.asarray(one.state[-1], np.float32) for one in seen])
        return self.facts.codec.decode(latent.numpy(), measured[:, None])

    def _noise(self, seed: int | None) -> torch.Tensor:
        generator = self.generator if seed is None else torch.Generator().manual_seed(seed)
        return torch.randn(self.net.shape.chunk, self.net.shape.action_dim, generator=generator)

    def blank(self) -> Seen:
        """A request of the right shapes, for warming up."""
        shape = self.net.shape
        image = np.zeros((shape.image_size, shape.image_size, 3), np.uint8)
        state = np.zeros((shape.history, shape.state_dim), np.float32)
        return Seen(dict.fromkeys(shape.views, image), state, "wait", shape.embodiments[0])

    def _observe(self, seen: Sequence[Seen]) -> Observation:
        shape = self.net.shape
        for one in seen:
            self._check(one)
        images = np.stack([[self._view(one.images, view) for view in shape.views] for one in seen])
        state = np.stack([self.facts.state_affine.normalise(one.state) for one in seen])
        texts = list(dict.fromkeys(one.instruction for one in seen))
        return Observation(
            images=torch.from_numpy(images),
            state=torch.from_numpy(state),
            instruction=torch.tensor([texts.index(one.instruction) for one in seen]),
            texts=texts,
            embodiment=torch.tensor([shape.embodiments.index(one.embodiment) for one in seen]),
        )

    def _check(self, seen: Seen) -> None:
        shape = self.net.shape
        if seen.embodiment not in shape.embodiments:
            raise ValueError(f"embodiment {seen.embodiment!r} is unknown; known: {', '.join(shape.embodiments)}")
        expected = (shape.history, shape.state_dim)
        if seen.state.shape != expected:
            raise ValueError(f"state has shape {seen.state.shape}, expected {expected}")
        if not np.isfinite(seen.state).all():
            raise ValueError("state holds a value that is not a finite number")

    def _view(self, images: Mapping[str, np.ndarray], view: str) -> np.ndarray:
        if view not in images:
            raise ValueError(f"view {view!r} is missing; got {', '.join(images) or 'none'}")
        image = np.asarray(images[view])
        if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
            raise ValueError(f"view {view!r} is {image.dtype} {image.shape}, expected uint8 (height, width, 3)")
        return resize(image[None], self.net.shape.image_size)[0]
