from django.contrib import admin

from labapp.cells.models import Agent, Calibration, Cell, CellObject, World


class CellObjectInline(admin.TabularInline):
    model = CellObject
    extra = 0


@admin.register(Cell)
class CellAdmin(admin.ModelAdmin):
    list_display = ("name", "embodiment", "is_simulated")
    prepopulated_fields = {"slug": ("name",)}
    inlines = (CellObjectInline,)


@admin.register(Agent)
class AgentAdmin(admin.ModelAdmin):
    list_display = ("name", "cell", "is_active", "last_seen_at")
    readonly_fields = ("version", "connected_at", "last_seen_at")


class ReadOnlyAdmin(admin.ModelAdmin):
    """Measured and made things are looked at here, never changed."""

    def has_add_permission(self, request: object) -> bool:
        return False

    def has_change_permission(self, request: object, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: object, obj: object = None) -> bool:
        return False


@admin.register(World)
class WorldAdmin(ReadOnlyAdmin):
    list_display = ("__str__", "cell", "grounding", "created_at")
    list_filter = ("cell",)


@admin.register(Calibration)
class CalibrationAdmin(ReadOnlyAdmin):
    list_display = ("__str__", "method", "created_at")
    list_filter = ("cell", "part")
