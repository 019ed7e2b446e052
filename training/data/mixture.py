"""Batches drawn from weighted components, with one normalisation for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from robots.errors import DataError
from training.data.actions import STILL_STD, ActionCodec, fit_codec
from training.data.component import Component, Signature
from training.data.normalisation import Affine, fit_affine
from training.embodiment import joint_layout

STATISTICS_WINDOWS = 4000


@dataclass(frozen=True)
class Batch:
    """One draw, all numpy.

    Attributes:
        images: uint8 (B, V, S, S, 3).
        state: normalised joints, oldest first (B, history, D).
        latent: normalised actions (B, chunk, A).
        is_valid: ticks inside the episode (B, chunk).
        instruction: index into the mixture's `texts` (B,).
        component: which component each example came from (B,).
    """

    images: np.ndarray
    state: np.ndarray
    latent: np.ndarray
    is_valid: np.ndarray
    instruction: np.ndarray
    component: np.ndarray


@dataclass(frozen=True)
class Mixture:
    """Components with one set of statistics.

    Attributes:
        components: at least one, all of one signature.
        share: declared fraction of draws per component, summing to 1.
        texts: all instructions; text_of[c] maps a component's instruction index into them.
        codec, state_affine: fitted to windows drawn with the declared shares.
        history, chunk: window lengths, in ticks.
    """

    components: tuple[Component, ...]
    share: np.ndarray
    texts: tuple[str, ...]
    text_of: tuple[np.ndarray, ...]
    codec: ActionCodec
    state_affine: Affine
    history: int
    chunk: int

    @property
    def signature(self) -> Signature:
        """What the components share."""
        return self.components[0].signature

    def draw(self, rng: np.random.Generator, size: int) -> Batch:
        """Draw windows: a component by its share, then any of its windows."""
        counts = rng.multinomial(size, self.share)
        parts = [
            self._take(c, rng.integers(len(self.components[c].windows), size=n)) for c, n in enumerate(counts) if n
        ]
        return Batch(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(Batch)))

    def _take(self, c: int, windows: np.ndarray) -> Batch:
        part = self.components[c]
        past = part.state[part.windows.past(windows, self.history)]
        ticks, is_valid = part.windows.future(windows, self.chunk)
        return Batch(
            images=part.frames[windows],
            state=self.state_affine.normalise(past),
            latent=self.codec.encode(part.action[ticks], past[:, -1:]),
            is_valid=is_valid,
            instruction=self.text_of[c][part.instruction[windows]],
            component=np.full(len(windows), c),
        )


def check_signatures(components: Sequence[Component]) -> None:
    """Refuse to mix folders that differ in embodiment, joints, units or views.

    Raises:
        DataError: naming both folders and the first thing that differs.
    """
    reference = components[0]
    for other in components[1:]:
        for field in fields(Signature):
            a, b = getattr(reference.signature, field.name), getattr(other.signature, field.name)
            if a != b and not (field.name == "units" and not (a and b)):
                where = f"{reference.config.path} and {other.config.path}"
                raise DataError(f"{where} cannot be mixed: {field.name} differ: {_difference(a, b)}")


def build_mixture(components: Sequence[Component], *, history: int, chunk: int, floor: float, seed: int) -> Mixture:
    """Fit the statistics and join the instructions.

    Raises:
        DataError: when the components cannot be mixed or no action moves.
    """
    check_signatures(components)
    weights = np.array([c.config.weight for c in components], np.float64)
    share = weights / weights.sum()
    texts = tuple(sorted({text for c in components for text in c.texts}))
    codec, state_affine = _fit(components, share, chunk, floor, np.random.default_rng(seed))
    text_of = tuple(np.array([texts.index(text) for text in c.texts]) for c in components)
    return Mixture(tuple(components), share, texts, text_of, codec, state_affine, history, chunk)


def _fit(
    components: Sequence[Component], share: np.ndarray, chunk: int, floor: float, rng: np.random.Generator
) -> tuple[ActionCodec, Affine]:
    drawn = rng.multinomial(STATISTICS_WINDOWS, share)
    states, actions, valid = [], [], []
    for part, n in zip(components, drawn, strict=True):
        windows = rng.integers(len(part.windows), size=n)
        ticks, is_valid = part.windows.future(windows, chunk)
        states.append(part.state[part.windows.start[windows]])
        actions.append(part.action[ticks])
        valid.append(is_valid)
    state = np.concatenate(states)
    names = components[0].signature
    layout = joint_layout(names.action_names, names.state_names)
    try:
        codec = fit_codec(np.concatenate(actions), state, np.concatenate(valid), layout.relative, layout.groups, floor)
    except ValueError as error:
        raise DataError(str(error)) from error
    return codec, fit_affine(state, floor, still=state.std(0) < STILL_STD)


def _difference(a: object, b: object) -> str:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return (
            f"{len(a)} and {len(b)} entries"
            if len(a) != len(b)
            else str([p for p in zip(a, b, strict=True) if p[0] != p[1]][:3])
        )
    return f"{a!r} and {b!r}"
