"""Filters of the results page and their place in the address: a link reproduces the view."""

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import parse_qs, urlencode

CONFIDENCES = (0.9, 0.95, 0.99)
SEPARATOR = ","


@dataclass(frozen=True)
class Filters:
    """Which trials count, and how wide the intervals are. Empty tuples mean all.

    `until` shows trials as they were then; `data_version` is what the maker of the link saw.
    """

    conditions: tuple[str, ...] = ()
    arms: tuple[str, ...] = ()
    confidence: float = 0.95
    until: datetime | None = None
    data_version: str = ""


def parse_filters(search: str | None) -> Filters:
    """Filters from the query part of an address, with or without "?".

    Raises:
        ValueError: naming the parameter, where one cannot be understood.
    """
    given = {name: values[-1] for name, values in parse_qs((search or "").removeprefix("?")).items()}
    return Filters(
        conditions=_words(given.get("conditions", "")),
        arms=_words(given.get("arms", "")),
        confidence=_confidence(given.get("confidence", "")),
        until=_moment(given.get("until", "")),
        data_version=given.get("data", ""),
    )


def format_filters(filters: Filters) -> str:
    """The query part of an address with a leading "?", empty where nothing is filtered."""
    parts = {
        "conditions": SEPARATOR.join(filters.conditions),
        "arms": SEPARATOR.join(filters.arms),
        "confidence": "" if filters.confidence == 0.95 else f"{filters.confidence:g}",
        "until": filters.until.isoformat() if filters.until else "",
        "data": filters.data_version,
    }
    query = urlencode({name: value for name, value in parts.items() if value}, safe=SEPARATOR)
    return f"?{query}" if query else ""


def _words(text: str) -> tuple[str, ...]:
    return tuple(sorted({word for word in text.split(SEPARATOR) if word}))


def _confidence(text: str) -> float:
    if not text:
        return 0.95
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if value not in CONFIDENCES:
        raise ValueError(f"confidence: {text!r} is not one of {', '.join(f'{c:g}' for c in CONFIDENCES)}")
    return value


def _moment(text: str) -> datetime | None:
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text.replace(" ", "+"))  # a plus sign in an address often arrives as a space
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise ValueError(f"until: {text!r} is not a date and time with a zone, like 2026-09-30T12:00:00+00:00")
    return moment
