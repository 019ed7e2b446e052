"""Every address of the project, filled with the rows that there are: for tests that leave no door untried."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from django.urls import URLPattern, URLResolver, get_resolver
from django.utils.regex_helper import normalize


def patterns(resolver: URLResolver | None = None, before: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each pattern of the URL configuration as ("studies/%(slug)s/", ("slug",)), admin and API included."""
    for entry in (resolver or get_resolver()).url_patterns:
        here = before + entry.pattern.regex.pattern.removeprefix("^")
        if isinstance(entry, URLPattern):
            template, names = normalize(here)[0]
            yield template, tuple(dict.fromkeys(names))
        else:
            yield from patterns(entry, here)


def filled(values: Mapping[str, Sequence[object]]) -> Iterator[str]:
    """Every pattern with every combination of the values of its parameters.

    Raises:
        AssertionError: a parameter has no value, so that a new address cannot be left out unseen.
    """
    for template, names in patterns():
        missing = [name for name in names if name not in values]
        assert not missing, f"/{template}: say in this test what to put for {', '.join(missing)}"
        for chosen in product(*(values[name] for name in names)):
            yield "/" + template % dict(zip(names, map(str, chosen), strict=True))
