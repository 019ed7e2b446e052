"""Rows of designing: every saved state of a draft."""

from django.conf import settings
from django.db import models


class DraftVersion(models.Model):
    """A draft as somebody saved it; `Study.draft_version` is the number of the newest."""

    study = models.ForeignKey("studies.Study", on_delete=models.CASCADE, related_name="draft_versions")
    version = models.PositiveIntegerField()
    design = models.JSONField(help_text="The whole design, with policies by name.")
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["study", "-version"]
        constraints = [models.UniqueConstraint(fields=["study", "version"], name="draft_version_unique")]

    def __str__(self) -> str:
        return f"Version {self.version} of the draft {self.study}"
