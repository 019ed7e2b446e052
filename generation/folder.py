"""An output folder is of one configuration and one world, so that a resumed run gives what a whole one would."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from robots.cell.world import WorldParameters
from robots.config import load_config, save_config, to_json, write_json
from robots.errors import ConfigError


def load_world(path: Path) -> WorldParameters:
    """World parameters from a file; raises ConfigError naming the field `world`."""
    try:
        return WorldParameters.from_json(path.read_text())
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}", "world") from error
    except ValueError as error:
        raise ConfigError(f"{path} is no world: {error}", "world") from error


def claim(out: Path, config: Any, world: WorldParameters, indifferent: Collection[str]) -> None:
    """Save configuration and world, or check that the folder's are the same.

    Args:
        indifferent: fields that may change before a resumption.

    Raises:
        ConfigError: the folder was begun with something else; it names the field.
    """
    path = out / "config.json"
    if (out / "world.json").exists() and load_world(out / "world.json") != world:
        raise ConfigError(f"{out} was begun with another world; choose another folder", "world")
    if path.exists():
        ours, theirs = to_json(config), to_json(load_config(type(config), path))
        for name in ours:
            if name not in indifferent and ours[name] != theirs[name]:
                raise ConfigError(f"{out} was begun with {theirs[name]!r}; choose another folder", name)
    save_config(config, path)
    write_json(out / "world.json", json.loads(world.to_json()))
