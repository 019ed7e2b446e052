"""Parts of a long page with a line of links to them that stays in sight."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from dash import html


class Part(NamedTuple):
    """Cards that belong together; `name` is the part's anchor in the address, `title` its link."""

    name: str
    title: str
    cards: Sequence[Any]


def sections(parts: Sequence[Part]) -> list[Any]:
    """The links, then every part that has a card."""
    there = [part for part in parts if part.cards]
    links = [html.A(part.title, href=f"#{part.name}") for part in there]
    bar = html.Nav(links, className="part-links", **{"aria-label": "Parts of this page"})
    return [bar, *[html.Div(list(part.cards), id=part.name, className="stack part") for part in there]]
