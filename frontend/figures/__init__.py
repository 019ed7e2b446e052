"""Arrays in, Plotly figures out: pure, the same in a page, an export or a notebook."""

from frontend.figures.effects_forest import effects_forest
from frontend.figures.failure_modes import failure_modes
from frontend.figures.interaction_plot import interaction_plot
from frontend.figures.looks import course_paths, look_paths
from frontend.figures.power_curves import PowerCurve, power_curves
from frontend.figures.sim_beside_real import sim_beside_real
from frontend.figures.stage_funnel import stage_funnel
from frontend.figures.success_bars import success_bars
from frontend.figures.time_to_success import time_to_success

__all__ = [
    "PowerCurve",
    "course_paths",
    "effects_forest",
    "failure_modes",
    "interaction_plot",
    "look_paths",
    "power_curves",
    "sim_beside_real",
    "stage_funnel",
    "success_bars",
    "time_to_success",
]
