"""Demonstration sets (episodes folders in the store) and their demonstrations."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse


class DemonstrationSet(models.Model):
    """An episodes folder of teleoperated (or scripted, on the bench cell) demonstrations."""

    class Source(models.TextChoices):
        BENCH = "bench", "recorded on the simulated bench cell"
        HARDWARE = "hardware", "recorded on the robot"
        IMPORT = "import", "imported"

    name = models.SlugField(max_length=80, unique=True)
    source = models.CharField(max_length=10, choices=Source)
    cell = models.ForeignKey(
        "cells.Cell", null=True, blank=True, on_delete=models.PROTECT, related_name="demonstration_sets"
    )
    embodiment = models.CharField(max_length=80, blank=True)
    views = models.JSONField(default=list, blank=True, help_text="Camera names.")
    fps = models.FloatField(null=True, blank=True)
    episodes = models.PositiveIntegerField(default=0)
    frames = models.PositiveBigIntegerField(default=0)
    episodes_with_video = models.PositiveIntegerField(default=0)
    report = models.JSONField(default=dict, blank=True, help_text="What the import or recording reported.")
    prefix = models.CharField(max_length=200, blank=True, help_text="Folder in the object store.")
    sha256 = models.CharField(max_length=64, blank=True)
    run = models.OneToOneField(
        "runs.Run", null=True, blank=True, on_delete=models.PROTECT, related_name="demonstration_set"
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    ready_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(ready_at__isnull=True) | (~Q(prefix="") & ~Q(sha256="")), name="ready_set_is_stored"
            ),
            models.CheckConstraint(condition=Q(episodes_with_video__lte=models.F("episodes")), name="set_video_count"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("demos:set", args=[self.name])

    @property
    def is_simulated(self) -> bool:
        return self.source == self.Source.BENCH


class Demonstration(models.Model):
    """One episode of a demonstration set."""

    demonstration_set = models.ForeignKey(DemonstrationSet, on_delete=models.CASCADE, related_name="demonstrations")
    index = models.PositiveIntegerField()
    task = models.CharField(max_length=300, blank=True)
    length = models.PositiveIntegerField(help_text="Rows.")
    object = models.ForeignKey("cells.CellObject", null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    belt_speed = models.FloatField(null=True, blank=True, help_text="m/s")
    outcome = models.CharField(max_length=20, blank=True)
    has_video = models.BooleanField(default=True)
    extra = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["demonstration_set", "index"]
        constraints = [
            models.UniqueConstraint(fields=["demonstration_set", "index"], name="demonstration_index_unique"),
            models.CheckConstraint(condition=Q(length__gt=0), name="demonstration_has_rows"),
        ]

    def __str__(self) -> str:
        return f"{self.demonstration_set} #{self.index}"

    def get_absolute_url(self) -> str:
        return reverse("demos:demonstration", args=[self.demonstration_set.name, self.index])

    @property
    def duration_s(self) -> float | None:
        fps = self.demonstration_set.fps
        return self.length / fps if fps else None
