from labapp.demos.models import DemonstrationSet
from labapp.lineage import Kind, register

register(Kind(DemonstrationSet, "Demonstrations"))
