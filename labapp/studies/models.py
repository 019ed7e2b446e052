"""Studies: design, seeded schedule, blinded trials with their whole history."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.urls import reverse


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


class PolicyArm(models.Model):
    """A policy under test, hidden from operators behind a code."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="arms")
    code = models.CharField(max_length=20, help_text="What operators see.")
    policy = models.ForeignKey("policies.Policy", null=True, blank=True, on_delete=models.PROTECT, related_name="arms")
    checkpoint = models.ForeignKey(
        "policies.Checkpoint", null=True, blank=True, on_delete=models.PROTECT, related_name="arms"
    )
    label = models.CharField(max_length=120, help_text="Name of the policy, seen once unblinded.")
    factors = models.JSONField(
        default=dict, blank=True, help_text='Factor levels of an arm without a policy row, e.g. {"world": "grounded"}.'
    )
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["study", "code"]
        constraints = [
            models.UniqueConstraint(fields=["study", "code"], name="arm_code_unique"),
            models.UniqueConstraint(fields=["study", "checkpoint"], name="arm_checkpoint_unique"),
        ]

    def __str__(self) -> str:
        return self.code


class Condition(models.Model):
    """How the cell is set for a trial: nominal, or shifted in one way or in all."""

    class Light(models.TextChoices):
        WHITE = "white"
        RED = "red"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="conditions")
    slug = models.SlugField(max_length=40)
    label = models.CharField(max_length=80)
    order = models.PositiveSmallIntegerField(default=0)
    is_shifted = models.BooleanField(default=False)
    light = models.CharField(max_length=10, choices=Light, default=Light.WHITE)
    belt_speed_min = models.FloatField(default=0.08, help_text="m/s")
    belt_speed_max = models.FloatField(default=0.12, help_text="m/s")
    uses_novel_objects = models.BooleanField(default=False)
    trials_per_arm = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["study", "order", "slug"]
        constraints = [
            models.UniqueConstraint(fields=["study", "slug"], name="condition_unique_in_study"),
            models.CheckConstraint(
                condition=Q(belt_speed_min__gte=0) & Q(belt_speed_max__gte=F("belt_speed_min")),
                name="condition_belt_speed_range",
            ),
        ]

    def __str__(self) -> str:
        return self.label


class TrialSlot(models.Model):
    """One planned trial: which arm, under which condition, with which object, at which place in the order."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="slots")
    position = models.PositiveIntegerField()
    block = models.PositiveIntegerField()
    arm = models.ForeignKey(PolicyArm, on_delete=models.PROTECT, related_name="slots")
    condition = models.ForeignKey(Condition, on_delete=models.PROTECT, related_name="slots")
    object = models.ForeignKey("cells.CellObject", on_delete=models.PROTECT, related_name="+")
    belt_speed = models.FloatField(help_text="m/s")
    bin = models.CharField(max_length=5, choices=[("left", "left"), ("right", "right")])
    seed = models.BigIntegerField(help_text="Same for every arm of the block: initial states are paired.")
    reschedules = models.OneToOneField(
        "self",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="rescheduled_as",
        help_text="The slot whose trial was invalid and that this one repeats.",
    )

    class Meta:
        ordering = ["study", "position"]
        constraints = [models.UniqueConstraint(fields=["study", "position"], name="slot_position_unique")]

    def __str__(self) -> str:
        return f"Trial {self.position}"


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
    started_at = models.DateTimeField()
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
        ]

    def __str__(self) -> str:
        return f"{self.slot or 'imported trial'}, arm {self.arm}"

    def get_absolute_url(self) -> str:
        return reverse("studies:trial", args=[self.study.slug, self.pk])


class TrialRevision(models.Model):
    """One change to a trial's outcome: the old values are kept, with who, when and why."""

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
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["trial", "version"]
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


# Django looks for an app's models in this module: those of the trial browser and of designing come with it.
from labapp.studies.browser import models as browser_models  # noqa: E402, F401
from labapp.studies.design import models as design_models  # noqa: E402, F401
