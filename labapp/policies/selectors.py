"""Reading policies, their mixtures and checkpoints."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Max, QuerySet

from labapp.policies.models import MixtureComponent, Policy
from labapp.runs.selectors import metrics_of


@dataclass(frozen=True)
class Share:
    """A component with its share of the training samples."""

    component: MixtureComponent
    share: float

    @property
    def width(self) -> float:
        return round(100 * self.share, 2)


def policies() -> QuerySet[Policy]:
    """With what says whether they are simulated."""
    return (
        Policy.objects.select_related("configuration", "created_by", "run")
        .prefetch_related("components__demonstration_set", "components__simulated_dataset__configuration__world__cell")
        .annotate(checkpoint_count=Count("checkpoints"), last_step=Max("checkpoints__step"))
        .order_by("-created_at", "-id")
    )


def mixture_of(policy: Policy) -> list[Share]:
    found = list(policy.components.select_related("demonstration_set", "simulated_dataset__configuration"))
    total = sum(component.weight for component in found)
    return [Share(component, component.weight / total) for component in found]


def curves_of(policy: Policy) -> list[dict[str, Any]]:
    """Each metric of the training as a curve over steps; a value that was no number is a gap."""
    if policy.run is None:
        return []
    curves: dict[str, dict[str, Any]] = {}
    for metric in metrics_of(policy.run):
        curve = curves.setdefault(metric.name, {"name": metric.name, "steps": [], "values": []})
        curve["steps"].append(metric.step)
        curve["values"].append(metric.value)
    return list(curves.values())
