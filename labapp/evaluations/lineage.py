from labapp.cells.models import World
from labapp.evaluations.models import Evaluation, SimulatedRollout
from labapp.lineage import Kind, Link, register
from labapp.policies.models import Policy

register(
    Kind(
        Evaluation,
        "Evaluations in simulation",
        (Link(Policy, ("policies__checkpoint__policy",)), Link(World, ("world",))),
    )
)
register(Kind(SimulatedRollout, "Simulated rollouts", (Link(Evaluation, ("policy__evaluation",)),), shown=0))
