from labapp.lineage import Kind, Link, register
from labapp.policies.models import Policy
from labapp.studies.models import Study, Trial

register(Kind(Study, "Studies", (Link(Policy, ("arms__policy",)),)))
register(Kind(Trial, "Trials", (Link(Policy, ("arm__policy",)),), shown=0))
