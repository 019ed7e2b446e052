"""Policies, the mixtures they are trained on, and their checkpoints."""

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.urls import reverse


class Policy(models.Model):
    """A policy trained on a mixture; ``configuration`` is empty for the real-only baseline."""

    name = models.SlugField(max_length=100, unique=True)
    preset = models.CharField(max_length=40)
    embodiment = models.CharField(max_length=80, blank=True)
    configuration = models.ForeignKey(
        "datasets.GroundingConfiguration", null=True, blank=True, on_delete=models.PROTECT, related_name="policies"
    )
    parameters = models.JSONField(default=dict, blank=True, help_text="Training options as launched.")
    run = models.OneToOneField("runs.Run", null=True, blank=True, on_delete=models.PROTECT, related_name="policy")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    ready_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        verbose_name_plural = "policies"

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("policies:policy", args=[self.name])

    @property
    def is_simulated(self) -> bool:
        """Whether anything it learned from was made on a simulated cell."""
        return any(component.is_simulated for component in self.components.all())

    @property
    def final_checkpoint(self) -> "Checkpoint | None":
        return self.checkpoints.filter(is_final=True).first()


class MixtureComponent(models.Model):
    """One dataset of a policy's training mixture, with its declared sampling weight."""

    policy = models.ForeignKey(Policy, on_delete=models.CASCADE, related_name="components")
    demonstration_set = models.ForeignKey(
        "demos.DemonstrationSet", null=True, blank=True, on_delete=models.PROTECT, related_name="mixture_components"
    )
    simulated_dataset = models.ForeignKey(
        "datasets.SimulatedDataset", null=True, blank=True, on_delete=models.PROTECT, related_name="mixture_components"
    )
    weight = models.FloatField(help_text="Share of training samples, relative to the other components.")

    class Meta:
        ordering = ["policy", "id"]
        constraints = [
            models.CheckConstraint(condition=Q(weight__gt=0), name="component_weight_positive"),
            models.CheckConstraint(
                condition=Q(demonstration_set__isnull=False, simulated_dataset__isnull=True)
                | Q(demonstration_set__isnull=True, simulated_dataset__isnull=False),
                name="component_is_real_or_simulated",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.weight:g} x {self.source}"

    def clean(self) -> None:
        if (self.demonstration_set_id is None) == (self.simulated_dataset_id is None):
            raise ValidationError("A component names either a demonstration set or a simulated dataset.")

    @property
    def source(self):
        return self.demonstration_set or self.simulated_dataset

    @property
    def is_simulated(self) -> bool:
        if self.demonstration_set is not None:
            return self.demonstration_set.is_simulated
        return self.simulated_dataset.configuration.world.cell.is_simulated

    @property
    def kind(self) -> str:
        return "real" if self.demonstration_set_id else "simulated"


class Checkpoint(models.Model):
    """A saved state of a policy: safetensors and JSON in the object store."""

    policy = models.ForeignKey(Policy, on_delete=models.PROTECT, related_name="checkpoints")
    step = models.PositiveIntegerField()
    prefix = models.CharField(max_length=200)
    sha256 = models.CharField(max_length=64)
    size_bytes = models.PositiveBigIntegerField()
    metrics = models.JSONField(default=dict, blank=True)
    is_final = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["policy", "-step"]
        constraints = [
            models.UniqueConstraint(fields=["policy", "step"], name="checkpoint_step_unique"),
            models.UniqueConstraint(fields=["policy"], condition=Q(is_final=True), name="one_final_checkpoint"),
        ]

    def __str__(self) -> str:
        return f"{self.policy} at step {self.step}"
