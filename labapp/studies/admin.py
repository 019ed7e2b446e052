"""Studies in Django's admin: to look at. Trials and events change only through their services."""

from django.contrib import admin
from django.http import HttpRequest

from labapp.studies.models import OperatorSession, Study, StudyEvent, Trial, TrialRevision


class ReadOnlyAdmin(admin.ModelAdmin):
    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


@admin.register(Study)
class StudyAdmin(ReadOnlyAdmin):
    list_display = ["name", "cell", "status", "is_simulated", "created_at"]
    list_filter = ["status", "is_simulated"]
    search_fields = ["name"]


@admin.register(Trial)
class TrialAdmin(ReadOnlyAdmin):
    list_display = ["id", "study", "status", "is_success", "failure_mode", "operator", "started_at"]
    list_filter = ["status", "is_success", "is_automatic"]
    list_select_related = ["study", "operator"]


@admin.register(StudyEvent)
class StudyEventAdmin(ReadOnlyAdmin):
    list_display = ["study", "kind", "actor", "created_at"]


@admin.register(TrialRevision)
class TrialRevisionAdmin(ReadOnlyAdmin):
    list_display = ["trial", "version", "kind", "actor", "created_at"]
    list_select_related = ["trial", "actor"]


@admin.register(OperatorSession)
class OperatorSessionAdmin(ReadOnlyAdmin):
    list_display = ["study", "operator", "started_at", "ended_at"]
