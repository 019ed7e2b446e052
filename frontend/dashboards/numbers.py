"""Numbers and moments as the cards write them."""

from datetime import UTC, datetime


def signed(value: float, digits: int = 2) -> str:
    """A number with its sign, the minus as long as the plus; a zero has none."""
    text = f"{value:+.{digits}f}".replace("-", "−")
    return text[1:] if float(text[1:]) == 0 else text


def utc_minute(moment: datetime) -> str:
    """Date and time to the minute, in UTC as the exports have it."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
