"""Options of runs as frozen dataclasses that name every impossible value at once, not only the first."""

from collections.abc import Iterable
from typing import Any

from robots.errors import ConfigError

MAX_SEED = 2**31 - 1


class ConfigErrors(ConfigError):
    """Several fields are wrong; as a ConfigError it is the first of them."""

    def __init__(self, errors: list[ConfigError]) -> None:
        super().__init__(errors[0].message, errors[0].field)
        self.errors = errors


def require(*checks: tuple[bool, str, str]) -> None:
    """Each check is (holds, field, message).

    Raises:
        ConfigErrors: with one error for every check that does not hold.
    """
    errors = [ConfigError(message, field) for holds, field, message in checks if not holds]
    if errors:
        raise ConfigErrors(errors)


def within(field: str, value: float, lowest: float, highest: float, unit: str = "") -> tuple[bool, str, str]:
    """The check that a number lies in a closed range."""
    return lowest <= value <= highest, field, f"must lie in {lowest:g}..{highest:g}{unit}, got {value:g}"


def seed_within(seed: int) -> tuple[bool, str, str]:
    return 0 <= seed <= MAX_SEED, "seed", f"must lie in 0..{MAX_SEED}, got {seed}"


def errors_of(error: ConfigError) -> Iterable[ConfigError]:
    return error.errors if isinstance(error, ConfigErrors) else (error,)


def field_names(options: type[Any]) -> tuple[str, ...]:
    return tuple(options.__dataclass_fields__)
