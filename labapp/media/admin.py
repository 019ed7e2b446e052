from django.contrib import admin

from labapp.media.models import Media


@admin.register(Media)
class MediaAdmin(admin.ModelAdmin):
    list_display = ("id", "kind", "audience", "size_bytes", "created_at")
    list_filter = ("kind", "audience")
    readonly_fields = ("object_key", "sha256", "size_bytes", "content_type", "original_name", "created_by")
