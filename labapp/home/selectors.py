"""What the home page shows: counts along the loop, what is running, what to do next."""

from dataclasses import dataclass

from django.db.models import Count, Q, Sum
from django.urls import reverse

from labapp.accounts.models import User
from labapp.accounts.roles import RESEARCH, has_role
from labapp.cells.models import Cell, World
from labapp.datasets.models import BehaviorSource, GroundingConfiguration, SimulatedDataset
from labapp.demos.models import DemonstrationSet
from labapp.home.picture import PLACES, WIRES, Place, Wire
from labapp.policies.models import Checkpoint, Policy
from labapp.runs.models import Run
from labapp.studies.models import Study, Trial


@dataclass(frozen=True)
class Box:
    """A place of the loop with its count, a note under it, and a link where the person may follow it."""

    place: Place
    count: int
    note: str
    url: str


@dataclass(frozen=True)
class NextStep:
    title: str
    text: str
    action: str
    url: str


def loop_boxes(user: User) -> list[Box]:
    facts = {"cell": _cells, "demos": _demos, "worlds": _worlds, "behaviors": _behaviors, "datasets": _datasets,
             "policies": _policies, "trials": _trials, "effects": _effects}  # fmt: skip
    is_research = has_role(user, *RESEARCH)
    return [Box(place, *facts[place.key](), _url(place, is_research)) for place in PLACES]


def _url(place: Place, is_research: bool) -> str:
    return reverse(place.url_name) if is_research or not place.is_research else ""


def loop_wires() -> list[tuple[Wire, bool]]:
    """The wires, each with whether something flows along it now."""
    active = set(Run.objects.filter(status=Run.Status.RUNNING).values_list("kind", flat=True).distinct())
    has_trial = Trial.objects.filter(status=Trial.Status.RUNNING).exists()
    return [(wire, wire.flow in active or (wire.flow == "trial" and has_trial)) for wire in WIRES]


def runs_active(limit: int = 6) -> list[Run]:
    active = Run.objects.filter(status__in=[Run.Status.RUNNING, Run.Status.QUEUED])
    return list(active.order_by("-status", "id")[:limit])


def studies_open() -> list[Study]:
    return list(Study.objects.filter(status=Study.Status.LOCKED))


def next_step() -> NextStep | None:
    """The first thing of the loop that is missing, in the order of the loop."""
    if not DemonstrationSet.objects.filter(ready_at__isnull=False).exists():
        return NextStep(
            "Start with demonstrations",
            "Record a set on the bench cell, or import an episodes folder that you have.",
            "Add demonstrations",
            reverse("demos:record"),
        )
    if not World.objects.exists():
        return NextStep(
            "Ground a world",
            "Measure the cell for a grounded world, and add the nominal one to compare it with.",
            "Add a world",
            reverse("cells:new"),
        )
    if not SimulatedDataset.objects.filter(ready_at__isnull=False).exists():
        return NextStep(
            "Generate a simulated dataset",
            "Choose a world and where the motion comes from; only successful trajectories are kept.",
            "Generate",
            reverse("datasets:new"),
        )
    if not Policy.objects.filter(ready_at__isnull=False).exists():
        return NextStep(
            "Train a policy",
            "Mix demonstrations with simulated data, and train a baseline on demonstrations alone.",
            "Train",
            reverse("policies:new"),
        )
    return None


def _cells() -> tuple[int, str]:
    counts = Cell.objects.aggregate(all=Count("pk"), simulated=Count("pk", filter=Q(is_simulated=True)))
    return counts["all"], f"{counts['simulated']} simulated" if counts["simulated"] else "in the lab"


def _demos() -> tuple[int, str]:
    total = DemonstrationSet.objects.filter(ready_at__isnull=False).aggregate(n=Count("pk"), episodes=Sum("episodes"))
    return total["episodes"] or 0, f"in {_plural(total['n'], 'set')}"


def _worlds() -> tuple[int, str]:
    grounded = World.objects.filter(
        visual_calibration__isnull=False, layout_calibration__isnull=False, dynamics_calibration__isnull=False
    ).count()
    return World.objects.count(), f"{grounded} grounded"


def _behaviors() -> tuple[int, str]:
    return BehaviorSource.objects.count(), f"{_plural(GroundingConfiguration.objects.count(), 'configuration')}"


def _datasets() -> tuple[int, str]:
    total = SimulatedDataset.objects.filter(ready_at__isnull=False).aggregate(n=Count("pk"), kept=Sum("trajectories"))
    return total["n"], f"{_plural(total['kept'] or 0, 'trajectory', 'trajectories')}"


def _policies() -> tuple[int, str]:
    return Policy.objects.filter(ready_at__isnull=False).count(), _plural(Checkpoint.objects.count(), "checkpoint")


def _trials() -> tuple[int, str]:
    """The lab's own; imported trials, which have no slot, were blinded elsewhere if at all."""
    confirmed = Trial.objects.filter(status=Trial.Status.CONFIRMED, slot__isnull=False).count()
    return confirmed, _plural(Study.objects.filter(is_imported=False).count(), "study", "studies")


def _effects() -> tuple[int, str]:
    return Study.objects.filter(unblinded_at__isnull=False).count(), "unblinded studies"


def _plural(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"
