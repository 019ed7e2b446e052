"""Build a folder beside its place and move it there when it is whole: nothing half-made is ever visible."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from robots.errors import ConfigError


@contextmanager
def built_aside(target: Path) -> Iterator[Path]:
    """A path to build in, beside `target`; renamed to `target` when the block succeeds, else removed.

    Raises:
        ConfigError: the target exists and is not empty, or its parent cannot be written.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise ConfigError(f"{target} exists and is not empty: choose another folder", "dst")
    aside = target.with_name(f".{target.name}.building")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(aside, ignore_errors=True)
    except OSError as error:
        raise ConfigError(f"cannot write {target}: {error.strerror}", "dst") from error
    try:
        yield aside
        if target.exists():
            target.rmdir()
        aside.rename(target)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
