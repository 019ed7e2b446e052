"""Trials with their whole history, and the operators who run them."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.urls import reverse

from labapp.studies.models.plan import Condition, PolicyArm, TrialSlot
from labapp.studies.models.study import Study


class Stage(models.TextChoices):
    """Furthest stage that a trial reached, in order."""

    APPROACH = "approach"
    CONTACT = "contact"
    LIFT = "lift"
    CARRY = "carry"
    RELEASE = "release"
    PLACED = "placed"


class FailureMode(models.TextChoices):
    MISSED_PICK = "missed_pick", "missed pick"
    DROPPED = "dropped", "dropped"
    FAILED_RELEASE = "failed_release", "failed release"
    DRIFT = "drift", "drift"
    WRONG_BIN = "wrong_bin", "wrong bin"
    COLLISION = "collision", "collision"
    TIMEOUT = "timeout", "timeout"


class OperatorSession(models.Model):
    """An operator at the rig: who, on which device, with which checklist, from when to when."""

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="sessions")
    operator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="sessions")
    device_id = models.UUIDField(default=uuid.uuid4)
    checklist = models.JSONField(default=dict, blank=True)
    started_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-started_at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(ended_at__isnull=True) | Q(ended_at__gte=F("started_at")), name="session_ends_after_start"
            ),
            models.UniqueConstraint(fields=["study"], condition=Q(ended_at=None), name="one_open_session_per_study"),
        ]

    def __str__(self) -> str:
        return f"{self.operator} on {self.study}, {self.started_at:%Y-%m-%d %H:%M}"


class Trial(models.Model):
    """One real rollout and its outcome.

    ``arm`` and ``condition`` repeat the slot's: an imported trial has no slot, and the results page counts a million
    rows from one index.
    """

    class Status(models.TextChoices):
        RUNNING = "running"
        PROPOSED = "proposed", "to be confirmed"
        CONFIRMED = "confirmed"
        INVALID = "invalid"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, help_text="Chosen by the client: a replay is one row.")
    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="trials")
    slot = models.ForeignKey(TrialSlot, null=True, blank=True, on_delete=models.PROTECT, related_name="trials")
    arm = models.ForeignKey(PolicyArm, on_delete=models.PROTECT, related_name="trials")
    condition = models.ForeignKey(Condition, on_delete=models.PROTECT, related_name="trials")
    status = models.CharField(max_length=10, choices=Status, default=Status.RUNNING)
    operator = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="trials"
    )
    session = models.ForeignKey(OperatorSession, null=True, blank=True, on_delete=models.PROTECT, related_name="trials")
    agent = models.ForeignKey("cells.Agent", null=True, blank=True, on_delete=models.PROTECT, related_name="trials")
    is_automatic = models.BooleanField(default=False, help_text="Confirmed by the auto-operator, not by a person.")
    proposal = models.JSONField(null=True, blank=True, help_text="What the referee proposed.")
    is_success = models.BooleanField(null=True, blank=True)
    furthest_stage = models.CharField(max_length=10, choices=Stage, blank=True)
    failure_mode = models.CharField(max_length=40, choices=FailureMode, blank=True)
    note = models.TextField(blank=True)
    invalid_reason = models.TextField(blank=True)
    duration_s = models.FloatField(null=True, blank=True)
    latency_ms = models.FloatField(null=True, blank=True, help_text="Median policy inference.")
    block_label = models.CharField(max_length=80, blank=True, help_text="Pairing key of an imported trial.")
    operator_label = models.CharField(max_length=80, blank=True, help_text="Operator of an imported trial.")
    episode_prefix = models.CharField(max_length=200, blank=True, help_text="Recorded rollout in the object store.")
    version = models.PositiveIntegerField(default=1, help_text="Raised by every change; a stale change is refused.")
    started_at = models.DateTimeField(
        null=True, blank=True, help_text="Empty for an imported trial that does not tell."
    )
    ended_at = models.DateTimeField(null=True, blank=True)
    confirmed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["study", "started_at"]
        indexes = [
            models.Index(
                fields=["study", "status", "arm", "condition"],
                include=["is_success", "failure_mode", "furthest_stage"],
                name="trial_results",
            ),
            models.Index(fields=["study", "started_at", "id"], name="trial_order"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["slot"], condition=~Q(status="invalid"), name="one_valid_trial_per_slot"),
            models.CheckConstraint(
                condition=~Q(status="confirmed") | Q(is_success__isnull=False), name="confirmed_trial_has_outcome"
            ),
            models.CheckConstraint(
                condition=Q(is_success__isnull=True) | Q(is_success=False) | Q(failure_mode=""),
                name="success_has_no_failure_mode",
            ),
            models.CheckConstraint(
                condition=~Q(status="invalid") | ~Q(invalid_reason=""), name="invalid_trial_has_reason"
            ),
            models.CheckConstraint(
                condition=Q(duration_s__isnull=True) | Q(duration_s__gte=0), name="trial_duration_not_negative"
            ),
            models.CheckConstraint(
                condition=Q(started_at__isnull=False) | Q(slot__isnull=True), name="trial_run_here_has_start"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.slot or 'imported trial'}, arm {self.arm}"

    def get_absolute_url(self) -> str:
        return reverse("studies:trial", args=[self.study.slug, self.pk])


class TrialRevision(models.Model):
    """One change to a trial's outcome: the old values are kept, with who, when and why.

    What stands in ``before`` held from ``before_since`` to ``created_at``; the spans of a trial never overlap.
    """

    class Kind(models.TextChoices):
        CONFIRMED = "confirmed"
        UNDONE = "undone"
        CORRECTED = "corrected"
        INVALIDATED = "invalidated"

    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="revisions")
    version = models.PositiveIntegerField()
    kind = models.CharField(max_length=12, choices=Kind)
    before = models.JSONField()
    after = models.JSONField()
    reason = models.TextField(blank=True)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    before_since = models.DateTimeField()
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["trial", "version"]
        indexes = [models.Index(fields=["created_at"], name="revision_time")]
        constraints = [models.UniqueConstraint(fields=["trial", "version"], name="revision_version_unique")]

    def __str__(self) -> str:
        return f"{self.trial} v{self.version}: {self.get_kind_display()}"


class TrialVideo(models.Model):
    """One camera's video of a trial."""

    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="videos")
    camera = models.CharField(max_length=40)
    media = models.ForeignKey("media.Media", on_delete=models.PROTECT, related_name="trial_videos")

    class Meta:
        ordering = ["trial", "camera"]
        constraints = [models.UniqueConstraint(fields=["trial", "camera"], name="trial_camera_unique")]

    def __str__(self) -> str:
        return f"{self.camera} video of {self.trial}"
