"""One optimiser step."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from training.data.mixture import Batch
from training.flow import flow_loss, interpolate
from training.job import Job
from training.model.policy import Observation, Policy
from training.optimisation import average_into
from training.state import TrainState


def take_step(job: Job, state: TrainState, batch: Batch, rate: float) -> float:
    """Update the weights and their average with one batch; returns the loss."""
    loss = batch_loss(job, state.net, batch)
    state.optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(state.net.parameters(), job.recipe.clip_norm)
    state.optimizer.step(rate)
    average_into(state.ema, state.net, job.recipe, state.step)
    return loss.item()


def batch_loss(job: Job, net: Policy, batch: Batch) -> Tensor:
    """Flow loss of a batch: images are encoded once, `flow_samples` flow times are drawn for each.

    Padded ticks enter neither the loss nor, through attention, the prediction of the others.
    """
    K = job.recipe.flow_samples
    is_valid = torch.from_numpy(batch.is_valid).repeat_interleave(K, 0)
    x_1 = torch.from_numpy(batch.latent).repeat_interleave(K, 0).masked_fill(~is_valid[..., None], 0)
    x_0, t = torch.randn_like(x_1), torch.rand(len(x_1))
    with torch.autocast("cpu", torch.bfloat16, enabled=job.bfloat16):
        task = net.encode(observe(job, batch))
        v = net.velocity(interpolate(x_0, x_1, t), t, task)
    return flow_loss(v.float(), x_0, x_1, is_valid)


def observe(job: Job, batch: Batch) -> Observation:
    """The policy's view of a batch: noise on the joints, constant over their history, and varied colours."""
    state, images = torch.from_numpy(batch.state), torch.from_numpy(batch.images)
    noise = job.recipe.state_noise * torch.randn(len(state), 1, state.shape[2])
    return Observation(
        images=images,
        state=state + noise,
        instruction=torch.from_numpy(batch.instruction),
        texts=job.mixture.texts,
        embodiment=torch.zeros(len(state), dtype=torch.long),
        gain=color_gain(len(images), images.shape[1], job.recipe.brightness_jitter, job.recipe.color_jitter),
    )


def color_gain(examples: int, views: int, brightness: float, color: float) -> Tensor | None:
    """Random factors per view and colour (B, V, 3): one lamp's brightness and tint for all views of an example.

    Args:
        brightness, color: standard deviations of the logarithm of the common and of each colour's own factor.
    """
    if brightness == 0 and color == 0:
        return None
    log_gain = brightness * torch.randn(examples, 1, 1) + color * torch.randn(examples, 1, 3)
    return log_gain.exp().expand(examples, views, 3)
