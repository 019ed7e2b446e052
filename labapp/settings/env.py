"""Typed reading of the environment. A secret may lie in a file: ``SECRET_KEY_FILE=/run/secrets/key``."""

import os
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured


def text(name: str, default: str | None = None) -> str:
    """The variable, or the default; with no default a missing one stops the start, named."""
    value = os.environ.get(name, "")
    if value:
        return value
    if default is None:
        raise ImproperlyConfigured(f"The environment variable {name} is not set.")
    return default


def secret(name: str, default: str | None = None) -> str:
    """``NAME``, or the content of the file that ``NAME_FILE`` points to."""
    path = os.environ.get(f"{name}_FILE", "")
    if not path:
        return text(name, default)
    try:
        return Path(path).read_text().strip()
    except OSError as error:
        raise ImproperlyConfigured(f"{name}_FILE points to {path}, which cannot be read: {error.strerror}.") from error


def flag(name: str, default: bool) -> bool:
    value = os.environ.get(name, "").lower()
    if value in ("1", "true", "yes", "on"):
        return True
    if value in ("0", "false", "no", "off"):
        return False
    if not value:
        return default
    raise ImproperlyConfigured(f"{name} is {value!r}; write 1 or 0.")


def number(name: str, default: float) -> float:
    value = os.environ.get(name, "")
    try:
        return float(value) if value else default
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} is {value!r}; write a number.") from error


def words(name: str, default: list[str]) -> list[str]:
    """A comma-separated list."""
    value = os.environ.get(name, "")
    return [word.strip() for word in value.split(",") if word.strip()] if value else default
