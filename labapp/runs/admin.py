from django.contrib import admin

from labapp.runs.models import Run


@admin.register(Run)
class RunAdmin(admin.ModelAdmin):
    list_display = ("title", "kind", "status", "created_by", "created_at", "attempt", "worker")
    list_filter = ("status", "kind", "queue")

    def has_add_permission(self, request) -> bool:
        return False

    def has_change_permission(self, request, obj=None) -> bool:
        """States change through the services only."""
        return False
