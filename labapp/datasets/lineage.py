from labapp.cells.models import World
from labapp.datasets.models import GroundingConfiguration, SimulatedDataset
from labapp.demos.models import DemonstrationSet
from labapp.lineage import Kind, Link, register

register(Kind(GroundingConfiguration, "Grounding configurations", (Link(World, ("world",)),)))
register(
    Kind(
        SimulatedDataset,
        "Simulated datasets",
        (
            Link(DemonstrationSet, ("demonstration_set",), title="Demonstrations adapted"),
            Link(GroundingConfiguration, ("configuration",)),
        ),
    )
)
