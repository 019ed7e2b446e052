"""N more trials to resolve this: what would show a difference that so far is not shown, were it the true one.

A plan, not a promise: the difference seen is itself uncertain, and after looking, more trials are an amendment.
"""

from math import ceil

from labapp.statistics.wording import POWER, detectable_effect, percent

MOST = 100_000  # beyond it, "more than"
ASSUMPTION = (
    f"“More trials” assumes that the difference seen so far is the true one, and asks for {percent(POWER)} power by "
    "the normal formula: a plan, not a promise. Running them is an amendment of the design."
)


def more_for_interval(
    estimate: float, low: float, high: float, trials: int, confidence: float, comparisons: int = 1
) -> int | None:
    """Further trials per arm (or pairs) that would show this estimate with 80 % power; None where it is zero.

    The standard error, read off the interval, shrinks with the square root of the trials.

    Args:
        estimate, low, high: in any one unit.
        trials: per arm so far.
        comparisons: that share the level; the interval itself stands at `confidence` for one.
    """
    if estimate == 0 or not trials:
        return None
    detectable = detectable_effect(low, high, confidence, comparisons=comparisons)
    return max(0, ceil(trials * min((detectable / estimate) ** 2, MOST / trials + 1)) - trials)


def more_words(more: int | None) -> str:
    """Number of further trials, for a table: "about 120", "more than 100,000", "—" where no number resolves it."""
    if more is None:
        return "—"
    return f"more than {MOST:,}" if more >= MOST else f"about {more}"


def more_sentence(more: int | None, what: str = "effect", unit: str = "trials per arm") -> str:
    """What a further number of trials would show, with its assumption."""
    if more is None:
        return f"So far there is no {what} at all, and no number of trials resolves that."
    many = f"{more_words(more)} more" if more < MOST else more_words(more)
    return (
        f"Were the {what} seen so far the true one, {many} {unit} would show it with {percent(POWER)} power (normal "
        "formula)."
    )
