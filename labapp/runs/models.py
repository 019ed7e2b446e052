"""A run is one long job: who asked for what, who works on it, how far it is, what came out."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone


class Run(models.Model):
    """One job. A worker owns it through ``claim`` until ``lease_expires_at``; only the owner of the claim may write."""

    class Status(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        SUCCEEDED = "succeeded"
        FAILED = "failed"
        CANCELLED = "cancelled"
        LOST = "lost"

    FINISHED = (Status.SUCCEEDED, Status.FAILED, Status.CANCELLED, Status.LOST)
    RETRYABLE = (Status.FAILED, Status.CANCELLED, Status.LOST)

    kind = models.CharField(max_length=60)
    title = models.CharField(max_length=200)
    queue = models.CharField(max_length=20, default="default")
    params = models.JSONField(default=dict)
    status = models.CharField(max_length=10, choices=Status, default=Status.QUEUED)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="runs"
    )
    created_at = models.DateTimeField(default=timezone.now)
    enqueued_at = models.DateTimeField(null=True, blank=True, help_text="Last handed to the broker.")
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    attempt = models.PositiveIntegerField(default=0)
    claim = models.UUIDField(null=True, blank=True, help_text="Drawn by the worker that owns the run.")
    worker = models.CharField(max_length=120, blank=True)
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    cancel_requested_at = models.DateTimeField(null=True, blank=True)

    progress_done = models.FloatField(default=0)
    progress_total = models.FloatField(null=True, blank=True)
    progress_unit = models.CharField(max_length=40, blank=True)
    event_count = models.PositiveIntegerField(default=0, help_text="Last sequence number given to an event.")
    error = models.TextField(blank=True)
    error_field = models.CharField(max_length=120, blank=True, help_text="Name of the parameter at fault.")
    result = models.JSONField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [models.Index(fields=["status", "lease_expires_at"], name="run_status_lease")]
        constraints = [
            models.CheckConstraint(
                condition=~Q(status="running")
                | Q(claim__isnull=False, lease_expires_at__isnull=False, started_at__isnull=False),
                name="running_run_is_claimed",
            ),
            models.CheckConstraint(
                condition=Q(status__in=["queued", "running"], finished_at__isnull=True)
                | Q(status__in=["succeeded", "failed", "cancelled", "lost"], finished_at__isnull=False),
                name="run_finished_at_when_finished",
            ),
            models.CheckConstraint(condition=Q(progress_done__gte=0), name="run_progress_not_negative"),
        ]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("runs:run", args=[self.pk])

    @property
    def is_active(self) -> bool:
        return self.status in (self.Status.QUEUED, self.Status.RUNNING)

    @property
    def can_retry(self) -> bool:
        return self.status in self.RETRYABLE

    @property
    def percent(self) -> float | None:
        if self.status == self.Status.SUCCEEDED:
            return 100.0
        return min(100.0, 100.0 * self.progress_done / self.progress_total) if self.progress_total else None

    @property
    def duration_s(self) -> float | None:
        if self.started_at is None:
            return None
        return ((self.finished_at or timezone.now()) - self.started_at).total_seconds()


class RunEvent(models.Model):
    """A line of the run's log, numbered without gaps."""

    class Level(models.TextChoices):
        INFO = "info"
        WARNING = "warning"
        ERROR = "error"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="events")
    seq = models.PositiveIntegerField()
    at = models.DateTimeField(default=timezone.now)
    level = models.CharField(max_length=8, choices=Level, default=Level.INFO)
    message = models.TextField()

    class Meta:
        ordering = ["run", "seq"]
        constraints = [models.UniqueConstraint(fields=["run", "seq"], name="event_seq_unique")]

    def __str__(self) -> str:
        return f"{self.seq}: {self.message}"


class RunMetric(models.Model):
    """One value per run, step and name. A value that is no number is empty, with a flag that says which."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="metrics")
    step = models.PositiveBigIntegerField()
    name = models.CharField(max_length=80)
    value = models.FloatField(null=True, blank=True)
    flag = models.CharField(max_length=8, blank=True, help_text="nan, inf or -inf.")

    class Meta:
        ordering = ["run", "name", "step"]
        constraints = [
            models.UniqueConstraint(fields=["run", "name", "step"], name="metric_unique"),
            models.CheckConstraint(
                condition=Q(value__isnull=False, flag="") | Q(value__isnull=True, flag__in=["nan", "inf", "-inf"]),
                name="metric_value_or_flag",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} = {self.flag or self.value} at {self.step}"


class RunArtifact(models.Model):
    """A file or folder that a run finished, safe in the object store: a retry on any machine starts from it."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="artifacts")
    path = models.CharField(max_length=300, help_text="Relative to the run's output folder.")
    kind = models.CharField(max_length=20)
    prefix = models.CharField(max_length=400, help_text="Folder in the object store.")
    sha256 = models.CharField(max_length=64)
    size_bytes = models.PositiveBigIntegerField()
    file_count = models.PositiveIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["run", "id"]
        constraints = [models.UniqueConstraint(fields=["run", "path"], name="artifact_path_unique")]

    def __str__(self) -> str:
        return f"{self.kind} {self.path}"
