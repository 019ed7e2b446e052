"""Reading demonstration sets and their episodes."""

from typing import Any

from django.db.models import QuerySet

from labapp.demos.media import EpisodeVideo, episode_videos, proxied_views
from labapp.demos.models import Demonstration, DemonstrationSet
from labapp.episodes import EpisodeEntry, episode_folder, index_load
from robots.episodes import EpisodesReader
from robots.episodes.plotdata import episode_series

PLOT_POINTS = 800


def sets() -> QuerySet[DemonstrationSet]:
    return DemonstrationSet.objects.select_related("cell", "created_by", "run")


def demonstrations_of(demonstration_set: DemonstrationSet) -> QuerySet[Demonstration]:
    return demonstration_set.demonstrations.select_related("object")


def entry_of(demonstration: Demonstration) -> EpisodeEntry | None:
    owner = demonstration.demonstration_set
    return index_load(owner.prefix, owner.sha256).entry(demonstration.index)


def videos_of(demonstration: Demonstration) -> list[EpisodeVideo]:
    owner = demonstration.demonstration_set
    entry = entry_of(demonstration)
    return episode_videos(owner.prefix, owner.sha256, entry, proxied_views(owner)) if entry else []


def series_of(prefix: str, sha256: str, entry: EpisodeEntry) -> dict[str, Any]:
    """State and action curves of one stored episode, thinned for a plot."""
    reader = EpisodesReader(episode_folder(prefix, sha256, entry))
    return episode_series(reader, entry.index, max_points=PLOT_POINTS)


def facts_of(demonstration: Demonstration) -> dict[str, Any]:
    """What else is known of an episode; the bench's hidden seed stays hidden."""
    hidden = {"object", "bench_seed", "initial_state"}
    return {
        name: value for name, value in demonstration.extra.items() if name not in hidden and value not in ("", None)
    }


def neighbours(demonstration: Demonstration) -> tuple[Demonstration | None, Demonstration | None]:
    """The one before and the one after in the same set."""
    others = demonstration.demonstration_set.demonstrations
    before = others.filter(index__lt=demonstration.index).order_by("-index").first()
    after = others.filter(index__gt=demonstration.index).order_by("index").first()
    return before, after
