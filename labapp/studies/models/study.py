"""Studies and what happened to them."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse


class Study(models.Model):
    """Policy arms tried under conditions on one cell, in an order that nobody chose."""

    class Status(models.TextChoices):
        DRAFT = "draft"
        LOCKED = "locked"
        FINISHED = "finished"

    name = models.CharField(max_length=120)
    slug = models.SlugField(max_length=80, unique=True)
    cell = models.ForeignKey(
        "cells.Cell",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="studies",
        help_text="Empty for an imported study whose cell is not known here.",
    )
    status = models.CharField(max_length=10, choices=Status, default=Status.DRAFT)
    question = models.TextField(blank=True, help_text="What the study is to decide.")
    analysis_plan = models.JSONField(default=dict, blank=True)
    object_names = models.JSONField(
        default=list, blank=True, help_text="Objects of the cell that take part; empty = all of them."
    )
    seed = models.BigIntegerField(default=0, help_text="Seeds the schedule.")
    time_limit_s = models.FloatField(default=12.0)
    draft_version = models.PositiveIntegerField(default=1, help_text="Raised by every save; a stale one is refused.")
    is_simulated = models.BooleanField(default=False)
    is_imported = models.BooleanField(default=False)
    design_sha256 = models.CharField(max_length=64, blank=True, editable=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    locked_at = models.DateTimeField(null=True, blank=True)
    unblinded_at = models.DateTimeField(null=True, blank=True)
    unblinded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        verbose_name_plural = "studies"
        constraints = [
            models.CheckConstraint(
                condition=Q(status="draft") | (Q(locked_at__isnull=False) & ~Q(design_sha256="")),
                name="study_locked_with_hash",
            ),
            models.CheckConstraint(
                condition=Q(unblinded_at__isnull=True) | Q(unblinded_by__isnull=False) | Q(is_imported=True),
                name="study_unblinded_by_someone",
            ),
            models.CheckConstraint(condition=Q(time_limit_s__gt=0), name="study_time_limit_positive"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("studies:study", args=[self.slug])

    @property
    def is_blinded(self) -> bool:
        return self.unblinded_at is None


class StudyEvent(models.Model):
    """What happened to a study and who did it: locking, amendments, unblinding. Never changed, never deleted."""

    class Kind(models.TextChoices):
        LOCKED = "locked"
        IMPORTED = "imported"
        AMENDED = "amended"
        ARM_WITHDRAWN = "arm_withdrawn", "arm withdrawn"
        UNBLINDED = "unblinded"
        FINISHED = "finished"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="events")
    kind = models.CharField(max_length=20, choices=Kind)
    reason = models.TextField(blank=True)
    payload = models.JSONField(default=dict, blank=True)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["study", "created_at"]

    def __str__(self) -> str:
        return f"{self.study}: {self.get_kind_display()}"
