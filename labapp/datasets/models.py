"""Behavior sources, grounding configurations and the simulated datasets made under them."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.urls import reverse


class BehaviorSource(models.Model):
    """Where the simulated motion comes from: demonstrations adapted (grounded) or motion synthesised (ungrounded)."""

    class Method(models.TextChoices):
        ADAPT = "adapt", "demonstrations adapted to new scenes"
        SYNTHESIZE = "synthesize", "grasps and routes without a human reference"

    name = models.SlugField(max_length=60, unique=True)
    method = models.CharField(max_length=12, choices=Method)
    parameters = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def is_grounded(self) -> bool:
        return self.method == self.Method.ADAPT


class GroundingConfiguration(models.Model):
    """A world crossed with a behavior source: the row that datasets, policies and trials point to."""

    name = models.CharField(max_length=120, unique=True)
    world = models.ForeignKey("cells.World", on_delete=models.PROTECT, related_name="configurations")
    behavior = models.ForeignKey(BehaviorSource, on_delete=models.PROTECT, related_name="configurations")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["world", "behavior"], name="configuration_unique")]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("datasets:configuration", args=[self.pk])


class SimulatedDataset(models.Model):
    """An episodes folder of success-filtered simulated trajectories made under one grounding configuration."""

    name = models.SlugField(max_length=100, unique=True)
    configuration = models.ForeignKey(GroundingConfiguration, on_delete=models.PROTECT, related_name="datasets")
    demonstration_set = models.ForeignKey(
        "demos.DemonstrationSet",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="simulated_datasets",
        help_text="Source of the motion when the behavior is adapted.",
    )
    requested = models.PositiveIntegerField(help_text="Trajectories asked for.")
    trajectories = models.PositiveIntegerField(default=0, help_text="Trajectories accepted.")
    frames = models.PositiveBigIntegerField(default=0)
    attempts = models.PositiveIntegerField(default=0)
    funnel = models.JSONField(default=dict, blank=True, help_text="Attempts by reason of rejection, and accepted.")
    seed = models.BigIntegerField(default=0)
    image_size = models.PositiveIntegerField(default=256)
    prefix = models.CharField(max_length=200, blank=True)
    sha256 = models.CharField(max_length=64, blank=True)
    run = models.OneToOneField(
        "runs.Run", null=True, blank=True, on_delete=models.PROTECT, related_name="simulated_dataset"
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    ready_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(condition=Q(requested__gt=0), name="dataset_requests_some"),
            models.CheckConstraint(condition=Q(trajectories__lte=F("attempts")), name="dataset_accepts_attempts"),
            models.CheckConstraint(
                condition=Q(ready_at__isnull=True) | (~Q(prefix="") & ~Q(sha256="")), name="ready_dataset_is_stored"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("datasets:dataset", args=[self.name])

    @property
    def yield_rate(self) -> float | None:
        return self.trajectories / self.attempts if self.attempts else None
