"""The pages of the loop in its own words, for the navigation and the `g` shortcuts; each role sees what is for it."""

from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import reverse

from labapp.accounts.roles import RESEARCH, has_role


@dataclass(frozen=True)
class Page:
    """A place of the navigation; ``key`` is the letter after `g`, ``also`` begins addresses of pages found under it."""

    label: str
    icon: str
    key: str
    url_name: str
    is_research: bool = False
    also: tuple[str, ...] = ()


PAGES = (
    Page("Home", "home", "h", "home"),
    Page("Demonstrations", "hand", "d", "demos:list", is_research=True),
    Page("Worlds", "world", "w", "cells:worlds", is_research=True),
    Page("Datasets", "layers", "s", "datasets:list", is_research=True, also=("/configurations/",)),
    Page("Policies", "policy", "p", "policies:list", is_research=True, also=("/evaluations/",)),
    Page("Studies", "study", "t", "studies:list"),
    Page("Results", "results", "r", "results:list", is_research=True),
    Page("Live", "live", "l", "live:index"),
    Page("Runs", "runs", "j", "runs:list", is_research=True),
)


@dataclass(frozen=True)
class Item:
    label: str
    icon: str
    key: str
    url: str
    is_current: bool


def navigation(request: HttpRequest) -> list[Item]:
    """What the person may open, with the place where they are now."""
    is_research = has_role(request.user, *RESEARCH)
    items = []
    for page in PAGES:
        if page.is_research and not is_research:
            continue
        url = reverse(page.url_name)
        is_current = request.path == url if url == "/" else request.path.startswith((url, *page.also))
        items.append(Item(page.label, page.icon, page.key, url, is_current))
    return items
