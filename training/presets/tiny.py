"""A policy that learns to pick within minutes on one CPU core."""

from training.presets.base import Preset

TINY = Preset(
    name="tiny",
    width=128,
    heads=4,
    depth=3,
    group=8,
    task_tokens=8,
    batch_size=64,
    flow_samples=4,
    learning_rate=4e-3,
    warmup_steps=100,
    weight_decay=1e-3,
    beta2=0.98,
    clip_norm=1.0,
    ema=0.999,
    stride=4,
    state_noise=0.03,
    brightness_jitter=0.1,
    color_jitter=0.05,
    floor=0.02,
)
