"""The cell, its objects and agents; calibrations and the worlds that rest on them."""

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.urls import reverse


class Cell(models.Model):
    """One robot cell. A simulated (bench) cell is marked so here, and everything made on it inherits the mark."""

    name = models.CharField(max_length=80, unique=True)
    slug = models.SlugField(unique=True)
    embodiment = models.CharField(max_length=80, help_text="Embodiment identifier that policies are conditioned on.")
    description = models.JSONField(default=dict, blank=True, help_text="Resolved CellDescription.")
    is_simulated = models.BooleanField(default=False)
    bench_seed = models.BigIntegerField(
        null=True, blank=True, help_text="Draws the hidden true parameters of a bench cell; empty for a real cell."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("cells:cell", args=[self.slug])


class CellObject(models.Model):
    """An object that the cell handles, with CAD size and measured mass."""

    cell = models.ForeignKey(Cell, on_delete=models.CASCADE, related_name="cell_objects")
    name = models.SlugField(max_length=40)
    label = models.CharField(max_length=80, help_text="How the instruction names it.")
    shape = models.CharField(max_length=20)
    size_m = models.JSONField(help_text="CAD extents x, y, z in metres.")
    mass_kg = models.FloatField(validators=[MinValueValidator(0.001)])
    is_novel = models.BooleanField(default=False, help_text="Never shown in demonstrations.")

    class Meta:
        ordering = ["is_novel", "name"]
        constraints = [
            models.UniqueConstraint(fields=["cell", "name"], name="object_unique_in_cell"),
            models.CheckConstraint(condition=Q(mass_kg__gt=0), name="object_mass_positive"),
        ]

    def __str__(self) -> str:
        return self.label


class Agent(models.Model):
    """The process beside a robot that connects out to the lab; known by a token of which only the hash is kept."""

    cell = models.ForeignKey(Cell, on_delete=models.CASCADE, related_name="agents")
    name = models.CharField(max_length=80)
    token_sha256 = models.CharField(max_length=64, unique=True, editable=False)
    is_active = models.BooleanField(default=True)
    version = models.CharField(max_length=40, blank=True)
    connected_at = models.DateTimeField(null=True, blank=True)
    last_seen_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["cell", "name"]
        constraints = [models.UniqueConstraint(fields=["cell", "name"], name="agent_unique_in_cell")]

    def __str__(self) -> str:
        return f"{self.name} at {self.cell}"


class Calibration(models.Model):
    """One measurement of a cell: which part of a world it grounds, what came out, and how well it fits."""

    class Part(models.TextChoices):
        VISUAL = "visual"
        LAYOUT = "layout"
        DYNAMICS = "dynamics"

    cell = models.ForeignKey(Cell, on_delete=models.PROTECT, related_name="calibrations")
    part = models.CharField(max_length=10, choices=Part)
    method = models.CharField(max_length=80)
    parameters = models.JSONField()
    residuals = models.JSONField(default=dict, help_text="Name to value; the unit is in the name.")
    run = models.ForeignKey("runs.Run", null=True, blank=True, on_delete=models.PROTECT, related_name="calibrations")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.get_part_display()} calibration of {self.cell}, {self.created_at:%Y-%m-%d %H:%M}"

    def get_absolute_url(self) -> str:
        return reverse("cells:calibration", args=[self.pk])


class World(models.Model):
    """A versioned, immutable WorldParameters. Each grounded part rests on the calibration that measured it."""

    cell = models.ForeignKey(Cell, on_delete=models.PROTECT, related_name="worlds")
    name = models.SlugField(max_length=60)
    version = models.PositiveIntegerField(default=1)
    parameters = models.JSONField(help_text="Resolved WorldParameters.")
    sha256 = models.CharField(max_length=64, editable=False)
    visual_calibration = models.ForeignKey(
        Calibration, null=True, blank=True, on_delete=models.PROTECT, related_name="visual_worlds"
    )
    layout_calibration = models.ForeignKey(
        Calibration, null=True, blank=True, on_delete=models.PROTECT, related_name="layout_worlds"
    )
    dynamics_calibration = models.ForeignKey(
        Calibration, null=True, blank=True, on_delete=models.PROTECT, related_name="dynamics_worlds"
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["cell", "name", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["cell", "name", "version"], name="world_version_unique"),
            models.CheckConstraint(condition=Q(version__gte=1), name="world_version_from_one"),
        ]

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"

    def get_absolute_url(self) -> str:
        return reverse("cells:world", args=[self.pk])

    @property
    def grounded_parts(self) -> list[str]:
        return [part for part in Calibration.Part.values if getattr(self, f"{part}_calibration_id")]

    @property
    def grounding(self) -> str:
        """``grounded`` (all three parts measured), ``ungrounded`` (none), or ``partly grounded``."""
        count = len(self.grounded_parts)
        return {0: "ungrounded", len(Calibration.Part.values): "grounded"}.get(count, "partly grounded")
