"""What a row rests on, and what rests on it: foreign keys only, never a name taken apart.

An app states in its ``lineage`` module what its own rows rest on; here the statements are followed, up and down.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Model, Q, QuerySet
from django.utils.module_loading import autodiscover_modules

SHOWN = 12


@dataclass(frozen=True)
class Link:
    """Foreign keys, any of which leads to a row of the model; ``title`` where the model's own does not say enough."""

    model: type[Model]
    keys: tuple[str, ...]
    title: str = ""


@dataclass(frozen=True)
class Kind:
    """Rows that have a place in the lineage; ``shown`` of them are listed, the others counted."""

    model: type[Model]
    title: str
    rests_on: tuple[Link, ...] = ()
    shown: int = SHOWN


@dataclass(frozen=True)
class Group:
    """Rows of one kind; ``count`` may exceed the rows that are shown."""

    title: str
    rows: list[Model]
    count: int


@dataclass(frozen=True)
class Lineage:
    rests_on: list[Group]
    carries: list[Group]


_kinds: dict[type[Model], Kind] = {}


def register(kind: Kind) -> None:
    _kinds[kind.model] = kind


def lineage_of(row: Model) -> Lineage:
    autodiscover_modules("lineage")
    kind = _kinds[type(row)]
    above = [_group(title, rows) for title, rows in _above(kind, _only(row))]
    below = [_group(k.title, _below(row, k), k.shown) for k in _kinds.values() if k is not kind]
    return Lineage([group for group in above if group.count], [group for group in below if group.count])


def _below(row: Model, kind: Kind) -> QuerySet[Model]:
    """Rows of a kind that rest on the row, through however many others: one query."""
    if isinstance(row, kind.model):
        return _only(row)
    resting = Q(pk__in=[])
    for link in kind.rests_on:
        sources = _below(row, _kinds[link.model])
        for key in link.keys:
            resting |= Q(**{f"{key}__in": sources})
    rows = kind.model._default_manager
    return rows.filter(pk__in=rows.filter(resting).values("pk"))  # once each, by however many ways


def _above(kind: Kind, rows: QuerySet[Model]) -> Iterator[tuple[str, QuerySet[Model]]]:
    """Kinds above the row's own, nearest first."""
    nearest = [(link, _sources(link, rows)) for link in kind.rests_on]
    for link, sources in nearest:
        yield link.title or _kinds[link.model].title, sources
    for link, sources in nearest:
        yield from _above(_kinds[link.model], sources)


def _sources(link: Link, rows: QuerySet[Model]) -> QuerySet[Model]:
    found = Q(pk__in=[])
    for key in link.keys:
        found |= Q(pk__in=rows.values(key))
    return link.model._default_manager.filter(found)


def _only(row: Model) -> QuerySet[Model]:
    return type(row)._default_manager.filter(pk=row.pk)


def _group(title: str, query: QuerySet[Model], shown: int = SHOWN) -> Group:
    return Group(title, list(query[:shown]), query.count())
