"""Between joint commands and the action vector that the flow model sees.

Arm joints become relative to the measured joints, hand joints become a few synergies (PCA) where those explain
them, dimensions that never move are left out and restored as their constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from training.data.normalisation import Affine, fit_affine_by_tick

STILL_STD = 4e-3
SYNERGY_SHARE = 0.995
MOST_SYNERGIES = 6


@dataclass(frozen=True)
class Synergies:
    """Principal components of one group of joints: `q = mean + w @ basis`.

    Attributes:
        indices: the joints' positions in the action vector (n,).
        mean: mean command (n,) [unit of the joints].
        basis: orthonormal rows (k, n).
    """

    indices: tuple[int, ...]
    mean: np.ndarray
    basis: np.ndarray


@dataclass(frozen=True)
class ActionCodec:
    """Encode commands to normalised latents and back, the same for training and serving.

    Attributes:
        dim: length D of the joint command.
        relative: joints whose command is taken relative to the measured position.
        direct: joints passed through one by one, in latent order, before the synergies.
        constant: what the joints left out are restored to (D,).
        synergies: groups of joints, each a block of the latent.
        affine: normalisation of the latent, tick by tick (T, A).
    """

    dim: int
    relative: tuple[int, ...]
    direct: tuple[int, ...]
    constant: np.ndarray
    synergies: tuple[Synergies, ...]
    affine: Affine

    @property
    def latent_dim(self) -> int:
        """Length A of the latent."""
        return len(self.direct) + sum(len(s.basis) for s in self.synergies)

    def encode(self, action: np.ndarray, measured: np.ndarray) -> np.ndarray:
        """Commands of a chunk (..., T, D) to latents (..., T, A).

        `measured` holds the joints when the chunk starts, broadcastable to the commands.
        """
        return self.affine.normalise(_project(self, action, measured))

    def decode(self, latent: np.ndarray, measured: np.ndarray) -> np.ndarray:
        """Latents (..., T, A) to commands (..., T, D)."""
        z = self.affine.restore(latent)
        action = np.broadcast_to(self.constant, (*z.shape[:-1], self.dim)).astype(np.float32)
        direct = list(self.direct)
        action[..., direct] = z[..., : len(direct)]
        at = len(direct)
        for group in self.synergies:
            weights = z[..., at : at + len(group.basis)]
            action[..., list(group.indices)] = weights @ group.basis + group.mean
            at += len(group.basis)
        relative = list(self.relative)
        action[..., relative] += measured[..., relative]
        return action

    def to_json(self) -> dict[str, Any]:
        """Plain lists, for the checkpoint."""
        return {
            "dim": self.dim,
            "relative": list(self.relative),
            "direct": list(self.direct),
            "constant": self.constant.tolist(),
            "synergies": [
                {"indices": list(s.indices), "mean": s.mean.tolist(), "basis": s.basis.tolist()} for s in self.synergies
            ],
            "affine": self.affine.to_json(),
        }

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> ActionCodec:
        """Inverse of `to_json`."""
        groups = tuple(
            Synergies(
                tuple(s["indices"]),
                np.asarray(s["mean"], np.float64),
                np.asarray(s["basis"], np.float64).reshape(-1, len(s["indices"])),
            )
            for s in raw["synergies"]
        )
        constant = np.asarray(raw["constant"], np.float64)
        affine = Affine.from_json(raw["affine"])
        return cls(raw["dim"], tuple(raw["relative"]), tuple(raw["direct"]), constant, groups, affine)


def _project(codec: ActionCodec, action: np.ndarray, measured: np.ndarray) -> np.ndarray:
    """Latents before normalisation (..., A)."""
    offset = np.zeros(action.shape, np.float32)
    relative = list(codec.relative)
    offset[..., relative] = measured[..., relative]
    x = action - offset
    blocks = [x[..., list(codec.direct)]]
    blocks += [(x[..., list(s.indices)] - s.mean) @ s.basis.T for s in codec.synergies]
    return np.concatenate(blocks, axis=-1)


def fit_synergies(indices: Sequence[int], commands: np.ndarray) -> Synergies | None:
    """Fewest principal components that explain `SYNERGY_SHARE` of the variance of a group.

    Args:
        indices: the joints (n,).
        commands: samples of the whole command (N, D).

    Returns:
        The synergies, or None when more than `MOST_SYNERGIES` (or half of the joints) would be needed.
    """
    x = commands[:, list(indices)].astype(np.float64)
    mean = x.mean(0)
    _, s, basis = np.linalg.svd(x - mean, full_matrices=False)
    share = np.cumsum(s**2) / max(float((s**2).sum()), 1e-30)
    k = int(np.searchsorted(share, SYNERGY_SHARE)) + 1
    if k > min(MOST_SYNERGIES, len(indices) // 2):
        return None
    return Synergies(tuple(indices), mean, basis[:k])


def fit_codec(
    action: np.ndarray,
    measured: np.ndarray,
    is_valid: np.ndarray,
    relative: Sequence[int],
    groups: Sequence[Sequence[int]],
    floor: float,
) -> ActionCodec:
    """Fit the whole codec to sampled windows.

    Args:
        action: command chunks (N, T, D).
        measured: joints measured at the start of each chunk (N, D).
        is_valid: ticks inside the episode (N, T).
        relative: joints that may be taken relative to the measurement.
        groups: joint groups that may be replaced by synergies.
        floor: see `fit_affine`.
    """
    commands = action[is_valid]
    still = commands.std(0) < STILL_STD
    moving_groups = [[i for i in g if not still[i]] for g in groups]
    found = [fit_synergies(g, commands) for g in moving_groups if g]
    synergies = tuple(s for s in found if s is not None)
    grouped = {i for s in synergies for i in s.indices}
    direct = tuple(i for i in range(action.shape[-1]) if not still[i] and i not in grouped)
    moving = tuple(i for i in relative if i in direct)
    width = len(direct) + sum(len(s.basis) for s in synergies)
    if width == 0:
        raise ValueError("no action dimension moves in these data: there is nothing to learn")
    identity = Affine(np.zeros(width), np.ones(width))
    mean = np.where(still, np.median(commands, axis=0), commands.mean(0)).astype(np.float64)
    codec = ActionCodec(action.shape[-1], moving, direct, mean, synergies, identity)
    latent = _project(codec, action, measured[:, None])
    affine = fit_affine_by_tick(latent, is_valid, floor)
    return ActionCodec(codec.dim, moving, direct, mean, synergies, affine)
