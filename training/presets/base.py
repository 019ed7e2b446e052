"""What a preset fixes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Preset:
    """Network size and optimiser settings.

    Attributes:
        name: what `preset` in a training config says.
        width, heads, depth, group, task_tokens: see `training.model.policy.PolicyShape`.
        batch_size: images drawn a step.
        flow_samples: flow times drawn for each encoded image; the encoder is paid once for all of them.
        learning_rate: peak of the cosine schedule; warmup_steps: linear rise to it.
        weight_decay, beta2, clip_norm: optimiser (Muon and AdamW) and gradient clipping.
        ema: decay of the averaged weights that are saved and served.
        stride: 50 Hz ticks between the starts of training windows, and between decoded frames.
        state_noise: normalised noise on the joints, constant over the history.
        brightness_jitter, color_jitter: spread of random image gains, see `training.step.color_gain`.
        floor: see `training.data.normalisation.fit_affine` [unit of the joints].
    """

    name: str
    width: int
    heads: int
    depth: int
    group: int
    task_tokens: int
    batch_size: int
    flow_samples: int
    learning_rate: float
    warmup_steps: int
    weight_decay: float
    beta2: float
    clip_norm: float
    ema: float
    stride: int
    state_noise: float
    brightness_jitter: float
    color_jitter: float
    floor: float
