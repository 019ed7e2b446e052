from django.contrib import admin

from labapp.cells.admin import ReadOnlyAdmin
from labapp.policies.models import Checkpoint, MixtureComponent, Policy


class MixtureInline(admin.TabularInline):
    model = MixtureComponent
    extra = 0


@admin.register(Policy)
class PolicyAdmin(ReadOnlyAdmin):
    list_display = ("name", "preset", "configuration", "ready_at")
    inlines = (MixtureInline,)


@admin.register(Checkpoint)
class CheckpointAdmin(ReadOnlyAdmin):
    list_display = ("__str__", "is_final", "size_bytes", "created_at")
