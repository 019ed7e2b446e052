"""Successes out of trials, checked once so that nothing downstream has to."""

from typing import NamedTuple

DEFAULT_CONFIDENCE = 0.95


class Count(NamedTuple):
    """`successes` out of `trials`; build it with `count` where the numbers come from outside."""

    successes: int
    trials: int

    @property
    def rate(self) -> float | None:
        """Share of successes, None without trials."""
        return self.successes / self.trials if self.trials else None

    def __add__(self, other: object) -> "Count":  # pooled, not concatenated as tuples are
        if not isinstance(other, Count):
            return NotImplemented
        return Count(self.successes + other.successes, self.trials + other.trials)


def count(successes: int, trials: int, what: str = "count") -> Count:
    """Return a checked `Count`.

    Raises:
        ValueError: naming `what`, where a number is negative or there are more successes than trials.
    """
    if trials < 0 or successes < 0:
        raise ValueError(f"{what}: {successes} of {trials}: successes and trials are whole numbers from 0")
    if successes > trials:
        raise ValueError(
            f"{what}: {successes} successes of {trials} trials: there cannot be more successes than trials"
        )
    return Count(int(successes), int(trials))


def check_confidence(confidence: float) -> float:
    """Return `confidence` where it is a share like 0.95.

    Raises:
        ValueError: outside (0, 1), with a hint where a percentage was given.
    """
    if not 0 < confidence < 1:
        hint = f"; did you mean {confidence / 100:g}?" if 1 < confidence < 100 else ""
        raise ValueError(f"confidence {confidence:g} is not between 0 and 1{hint}")
    return confidence


def alpha_of(confidence: float) -> float:
    """The level that belongs to a confidence: 0.05 for 0.95, without binary noise that would decide a p of 1/20."""
    return round(1 - check_confidence(confidence), 12)
