"""Reading single values of outcome tables as people and spreadsheets write them: pure."""

import math
import re
from datetime import datetime

YES = {
    "1",
    "true",
    "yes",
    "y",
    "success",
    "succeeded",
    "pass",
    "passed",
    "wahr",
    "ja",
    "vrai",
    "oui",
    "verdadero",
    "sí",
    "vero",
}
NO = {"0", "false", "no", "n", "failure", "fail", "failed", "falsch", "nein", "faux", "non", "falso"}
A_YES_OR_NO = (
    "a yes or no (1/0, true/false, yes/no, success/failure); leave out trials without an outcome, and give a share of "
    "several trials as one row a trial"
)
A_TIME = "a time in seconds, 0 or more, such as 12.5"
A_MOMENT = "a date and time such as 2026-11-30T14:05:00+01:00 (30/11/2026 could be read in two ways)"
GROUPED = re.compile(r"\d{1,3}(,\d{3})+")


def yes_or_no(text: str) -> bool | None:
    """Whether a value says yes, also as 1.0, 1,0 or 100 %; None where it says neither."""
    value = text.strip().casefold()
    if value in YES or value in NO:
        return value in YES
    share = value.endswith("%")
    number = decimal(value.removesuffix("%").strip(), comma=True)
    return {0.0: False, (100.0 if share else 1.0): True}.get(number)


def seconds(text: str, *, comma: bool) -> float | None:
    """A duration; None where it is no number, or below 0."""
    number = decimal(text.strip().removesuffix("s").strip(), comma=comma)
    return number if number is not None and number >= 0 else None


def decimal(text: str, *, comma: bool) -> float | None:
    """A finite number with a decimal point, or comma.

    Args:
        comma: whether the table writes decimals with a comma. Else "1,234" is refused: it could be a thousand and more.
    """
    if not comma and GROUPED.fullmatch(text):
        return None
    try:
        number = float(text.replace(",", ".") if text.count(",") == 1 and "." not in text else text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def moment(text: str) -> datetime | None:
    """A date and time in ISO 8601; None where it is something else."""
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        return None
