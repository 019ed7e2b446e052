"""From a config to everything that stays fixed while training."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robots.config import to_json
from robots.errors import DataError
from robots.progress import Progress
from training.checkpoint import Facts, git_commit
from training.config import TrainConfig
from training.data.component import load_component
from training.data.frames import default_cache_dir
from training.data.mixture import Mixture, build_mixture
from training.model.policy import PolicyShape
from training.precision import use_bfloat16
from training.presets import Preset

HISTORY, CHUNK = 20, 40


@dataclass(frozen=True)
class Job:
    """What stays fixed while training."""

    config: TrainConfig
    recipe: Preset
    mixture: Mixture
    shape: PolicyShape
    bfloat16: bool

    def facts(self, step: int, drawn: list[int]) -> Facts:
        """What a checkpoint of this job says beside its weights."""
        signature = self.mixture.signature
        return Facts(
            shape=self.shape,
            codec=self.mixture.codec,
            state_affine=self.mixture.state_affine,
            step=step,
            config=to_json(self.config),
            datasets=describe_mixture(self.mixture, drawn),
            git_commit=git_commit(),
            embodiment=to_json(signature),
        )

    def check_same_data(self, facts: Facts) -> None:
        """Refuse to continue on other data than a checkpoint was trained on.

        Raises:
            DataError: naming the folder that changed.
        """
        before = [dataset["fingerprint"] for dataset in facts.datasets]
        for part, fingerprint in zip(self.mixture.components, before, strict=True):
            if part.fingerprint != fingerprint:
                raise DataError(f"{part.config.path} changed since step {facts.step}; start afresh in another folder")


def prepare(config: TrainConfig, progress: Progress) -> Job:
    """Read the mixture and fix the network's shape.

    Raises:
        DataError: when a component cannot be used, or the components cannot be mixed.
    """
    cache = Path(config.cache_dir) if config.cache_dir else default_cache_dir()
    views, components = config.views, []
    for part in config.components:
        loaded = load_component(
            part,
            views=views,
            stride=config.recipe.stride,
            image_size=config.image_size,
            cache_dir=cache,
            progress=progress,
        )
        views = loaded.signature.views
        components.append(loaded)
        if loaded.skipped:
            progress.log(f"{part.path}: {len(loaded.skipped)} episodes without video are left out", "warning")
    mixture = build_mixture(components, history=HISTORY, chunk=CHUNK, floor=config.recipe.floor, seed=config.seed)
    return Job(config, config.recipe, mixture, policy_shape(mixture, config), use_bfloat16(config.precision))


def policy_shape(mixture: Mixture, config: TrainConfig) -> PolicyShape:
    """The network that fits a mixture."""
    recipe, signature = config.recipe, mixture.signature
    return PolicyShape(
        views=signature.views,
        embodiments=(signature.embodiment,),
        image_size=config.image_size,
        state_dim=len(signature.state_names),
        action_dim=mixture.codec.latent_dim,
        history=HISTORY,
        chunk=CHUNK,
        group=recipe.group,
        width=recipe.width,
        heads=recipe.heads,
        depth=recipe.depth,
        task_tokens=recipe.task_tokens,
    )


def describe_mixture(mixture: Mixture, drawn: list[int]) -> list[dict[str, Any]]:
    """Declared and realised share of each component, and what it is."""
    total = max(sum(drawn), 1)
    return [
        {
            "path": part.config.path,
            "kind": part.config.kind,
            "fingerprint": part.fingerprint,
            "episodes": len(set(part.windows.episode.tolist())),
            "skipped_episodes": len(part.skipped),
            "windows": len(part.windows),
            "share": float(share),
            "realised_share": n / total,
        }
        for part, share, n in zip(mixture.components, mixture.share, drawn, strict=True)
    ]
