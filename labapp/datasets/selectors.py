"""Reading configurations and simulated datasets."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, QuerySet

from labapp.datasets.models import GroundingConfiguration, SimulatedDataset
from labapp.datasets.services import ACCEPTED, BY_OBJECT, rejections
from labapp.episodes import EpisodeEntry, index_load

REASONS = {
    "unreachable": "out of the arm's reach",
    "collision_planned": "no route without a collision",
    "no_grasp": "no grasp found, or missed",
    "dropped": "dropped on the way",
    "wrong_bin": "landed in the wrong bin",
    "not_released": "not released",
    "not_at_rest": "not at rest at the end",
    "collision": "collision while executed",
    "overflow": "more contacts than the physics holds",
    "nan": "physics became no number",
}


@dataclass(frozen=True)
class FunnelRow:
    """One way an attempt can end; ``left`` is how many were still in after it."""

    reason: str
    label: str
    count: int
    share: float
    is_accepted: bool = False

    @property
    def width(self) -> float:
        return round(100 * self.share, 2)


def datasets() -> QuerySet[SimulatedDataset]:
    return SimulatedDataset.objects.select_related(
        "configuration__world__cell", "configuration__behavior", "demonstration_set", "created_by", "run"
    )


def configurations() -> QuerySet[GroundingConfiguration]:
    return (
        GroundingConfiguration.objects.select_related("world__cell", "behavior")
        .annotate(dataset_count=Count("datasets", distinct=True), policy_count=Count("policies", distinct=True))
        .order_by("name")
    )


def funnel_of(dataset: SimulatedDataset) -> list[FunnelRow]:
    """Why attempts were rejected, most frequent first, and the accepted ones at the end."""
    attempts = max(dataset.attempts, 1)
    rejected = sorted(rejections(dataset.funnel).items(), key=lambda item: -item[1])
    rows = [FunnelRow(r, REASONS.get(r, r.replace("_", " ")), count, count / attempts) for r, count in rejected]
    accepted = FunnelRow(ACCEPTED, "accepted", dataset.trajectories, dataset.trajectories / attempts, is_accepted=True)
    return [*rows, accepted]


def yields_by_object(dataset: SimulatedDataset) -> list[dict[str, Any]]:
    """Attempts and kept trajectories of each object."""
    return [
        {"object": name, "attempts": counts["attempts"], "accepted": counts[ACCEPTED]}
        | {"share": counts[ACCEPTED] / counts["attempts"] if counts["attempts"] else None}
        for name, counts in dataset.funnel.get(BY_OBJECT, {}).items()
    ]


def trajectories_of(dataset: SimulatedDataset, *, words: str = "") -> list[EpisodeEntry]:
    """The kept trajectories; ``words`` must all occur in what is known of one."""
    wanted = words.lower().split()
    return [entry for entry in index_load(dataset.prefix, dataset.sha256).episodes if _matches(entry, wanted)]


def trajectory_facts(entry: EpisodeEntry) -> dict[str, Any]:
    """Everything that is known of a trajectory, without its initial state."""
    return {name: value for name, value in entry.extra.items() if name != "initial_state"}


def _matches(entry: EpisodeEntry, words: list[str]) -> bool:
    text = " ".join([entry.task, *map(str, trajectory_facts(entry).values())]).lower()
    return all(word in text for word in words)
