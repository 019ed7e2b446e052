"""Network sizes and optimiser settings, one preset a file."""

from __future__ import annotations

from training.presets.base import Preset
from training.presets.tiny import TINY

PRESETS: dict[str, Preset] = {TINY.name: TINY}

__all__ = ["PRESETS", "Preset"]
