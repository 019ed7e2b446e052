from labapp.cells.models import Calibration, World
from labapp.lineage import Kind, Link, register

register(Kind(Calibration, "Calibrations"))
register(
    Kind(World, "Worlds", (Link(Calibration, tuple(f"{part}_calibration" for part in Calibration.Part.values)),)),
)
