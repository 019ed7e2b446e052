"""Errors that a command line anticipates; everything else is a defect and keeps its traceback."""


class ConfigError(ValueError):
    """A configuration that cannot be used (exit status 2).

    Args:
        message: what is wrong and what would be right.
        field: dotted path of the offending field, e.g. `belt_speed[1]`; None when no single field is to blame.
    """

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.message = message
        self.field = field

    def inside(self, parent: str) -> "ConfigError":
        """The same error seen from one level up: its field path gets `parent` in front."""
        if not self.field:
            return ConfigError(self.message, parent)
        joint = "" if self.field.startswith("[") else "."
        return ConfigError(self.message, f"{parent}{joint}{self.field}")


class DataError(ValueError):
    """Input data that cannot be used (exit status 1); the message names file, episode, row and column as known."""
