"""Files that browsers see: a row knows the object, its hash and who may look; the URL tells nothing else."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse


class Media(models.Model):
    """One object of the store. Its name in the store and its original name never reach a browser."""

    class Kind(models.TextChoices):
        VIDEO = "video"
        IMAGE = "image"
        FILE = "file"

    class Audience(models.TextChoices):
        EVERYONE = "everyone", "everyone who is signed in"
        RESEARCH = "research", "researchers and PIs"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    kind = models.CharField(max_length=10, choices=Kind)
    audience = models.CharField(max_length=10, choices=Audience, default=Audience.EVERYONE)
    object_key = models.CharField(max_length=400, unique=True)
    content_type = models.CharField(max_length=80)
    size_bytes = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    original_name = models.CharField(max_length=200, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at"]
        verbose_name_plural = "media"
        constraints = [
            models.CheckConstraint(condition=Q(sha256__regex=r"^[0-9a-f]{64}$"), name="media_sha256_is_hex"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.size_bytes:,} bytes"

    def get_absolute_url(self) -> str:
        return reverse("media:stream", args=[self.pk])
