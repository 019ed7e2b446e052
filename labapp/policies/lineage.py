from labapp.datasets.models import SimulatedDataset
from labapp.demos.models import DemonstrationSet
from labapp.lineage import Kind, Link, register
from labapp.policies.models import Policy

register(
    Kind(
        Policy,
        "Policies",
        (
            Link(DemonstrationSet, ("components__demonstration_set",)),
            Link(SimulatedDataset, ("components__simulated_dataset",)),
        ),
    )
)
