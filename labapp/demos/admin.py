from django.contrib import admin

from labapp.cells.admin import ReadOnlyAdmin
from labapp.demos.models import Demonstration, DemonstrationSet


@admin.register(DemonstrationSet)
class DemonstrationSetAdmin(ReadOnlyAdmin):
    list_display = ("name", "source", "episodes", "frames", "ready_at")
    list_filter = ("source",)


@admin.register(Demonstration)
class DemonstrationAdmin(ReadOnlyAdmin):
    list_display = ("__str__", "task", "length", "has_video")
    list_select_related = ("demonstration_set",)
