from django.contrib import admin

from labapp.cells.admin import ReadOnlyAdmin
from labapp.datasets.models import BehaviorSource, GroundingConfiguration, SimulatedDataset

admin.site.register([BehaviorSource, GroundingConfiguration], ReadOnlyAdmin)


@admin.register(SimulatedDataset)
class SimulatedDatasetAdmin(ReadOnlyAdmin):
    list_display = ("name", "configuration", "trajectories", "attempts", "ready_at")
