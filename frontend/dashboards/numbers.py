"""Numbers as the cards write them."""


def signed(value: float, digits: int = 2) -> str:
    """A number with its sign, the minus as long as the plus; a zero has none."""
    text = f"{value:+.{digits}f}".replace("-", "−")
    return text[1:] if float(text[1:]) == 0 else text
