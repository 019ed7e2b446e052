from django.contrib import admin
from django.contrib.auth.admin import UserAdmin

from labapp.accounts.models import ApiToken, User


@admin.register(User)
class LabUserAdmin(UserAdmin):
    list_display = ("username", "first_name", "last_name", "role", "is_active")
    list_filter = ("role", "is_active")
    fieldsets = (*UserAdmin.fieldsets, ("Lab", {"fields": ("role",)}))
    add_fieldsets = (*UserAdmin.add_fieldsets, ("Lab", {"fields": ("role",)}))


@admin.register(ApiToken)
class ApiTokenAdmin(admin.ModelAdmin):
    list_display = ("user", "name", "created_at", "last_used_at", "revoked_at")
    readonly_fields = ("user", "name", "created_at", "last_used_at")

    def has_add_permission(self, request) -> bool:
        """A token is issued with ``manage.py issue_token``, which shows it once."""
        return False
